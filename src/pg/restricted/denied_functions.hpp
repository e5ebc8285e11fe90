#pragma once

#include "pg/server/postgres.hpp"

// The functions that tell exact facts about data.
namespace dpquantile {

// What the function tells, if a restricted session may not execute it; otherwise null. Every
// function that is not listed is allowed.
const char* told_by_function(Oid function);

// Whether the function tells a number of rows, blocks or bytes, a file or an object, so that a
// restricted session can see NULL in its place (hidden_facts.hpp). It is one of those that
// told_by_function() knows.
bool counts_data(Oid function);

// ereports if a restricted session may not execute the function.
void refuse_function(Oid function);

}  // namespace dpquantile
