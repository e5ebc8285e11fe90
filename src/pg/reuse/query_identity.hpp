#pragma once

#include "pg/reuse/secret_hash.hpp"

extern "C" {
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
}

// Which queries are the same. Where a query is in its text, comments, aliases, names of output
// columns, the spelling of what PostgreSQL resolves, ORDER BY and LIMIT of the level do not count
// (answer_order.hpp). Parameters count by their values (answer_key.hpp). Two levels that mean
// different things have different identities, and nobody can choose them otherwise
// (secret_hash.hpp). Without a secret no query has an identity.
namespace dpquantile {

// Gives each query level with aggregates its identity, in its mark (pg/server/level_mark.hpp). A
// level that takes values from the levels around it has none. Call it after the rewriter.
void stamp_identities(Query* query);

// The identity of an expression without columns: its meaning without its place in the text. Zero
// without a secret.
SecretHash identity_of_expression(const Node* expression);

// The identity of a level that the planner has prepared, with the columns of its groups: those from
// which it computes what the query around uses. Answers are kept as rows of these columns. As
// a text (hash_of_text()); null if the level has none.
const char* identity_with_columns(const Query* query, const PathTarget* columns);

}  // namespace dpquantile
