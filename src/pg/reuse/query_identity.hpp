#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
}

// Which queries are the same. Where a query is in its text, comments, aliases, names of output
// columns, the spelling of what PostgreSQL resolves, ORDER BY and LIMIT of the level do not count
// (answer_order.hpp). Parameters count by their values (answer_key.hpp).
namespace dpquantile {

// Gives each query level with aggregates its identity, as Query.queryId, which the planner keeps.
// Call it after the rewriter. Two levels that mean different things have equal identities with
// probability 2^-64.
void stamp_identities(Query* query);

// The identity of a level. 0 if it has none, and PostgreSQL has not put its own number there.
inline uint64 identity_of(const Query* query) {
  return static_cast<uint64>(query->queryId);
}

// The identity of an expression without columns: its meaning without its place in the text.
uint64 identity_of_expression(const Node* expression);

// The identity of a level that the planner has prepared, with the columns of its groups: those from
// which it computes what the query around uses. Answers are kept as rows of these columns. 0 if the
// level has none.
uint64 identity_with_columns(const Query* query, const PathTarget* columns);

}  // namespace dpquantile
