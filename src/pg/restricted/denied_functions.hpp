#pragma once

#include "pg/server/postgres.hpp"

// The functions that tell exact facts about data.
namespace dpquantile {

// What the function tells, if a restricted session may not execute it; otherwise null. Every
// function that is not listed is allowed.
const char* told_by_function(Oid function);

// ereports if a restricted session may not execute the function.
void refuse_function(Oid function);

}  // namespace dpquantile
