#pragma once

#include "pg/protect/query_level.hpp"

// Which queries over borrowed relations are allowed, and how they are rewritten.
namespace dpquantile {

// Checks a whole statement after PostgreSQL's rewriter, and rewrites it in place, so that what its
// user can see is differentially private. All its borrowed relations are validated when it returns.
// ereports otherwise.
void validate_statement(Statement* statement, Query* query);

}  // namespace dpquantile
