#pragma once

#include "pg/protect/judged_level.hpp"

// Which queries over borrowed relations are allowed, and how they are rewritten. It walks the query
// levels from the innermost, says of each what it is (a source, a release block or an outer query)
// and has the rules of that kind check it. What no rule knows is refused. This is the only thing
// between a role without SELECT and the rows: the plan runs with the rights of the tables' owners.
// Each level gets its type by one of the rules (Theorem 34 of docs/privacy/relations.md).
namespace dpquantile {

// Checks a whole statement after PostgreSQL's rewriter, and rewrites it in place, so that what its
// user can see is differentially private. All its borrowed relations are validated when it returns.
// ereports otherwise.
void validate_statement(JudgedStatement* statement, Query* query);

}  // namespace dpquantile
