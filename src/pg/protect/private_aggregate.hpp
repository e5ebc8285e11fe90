#pragma once

#include "pg/protect/query_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// The aggregates of a release block.
namespace dpquantile {

// Checks a call of an aggregate, and rewrites what it takes from the rows. ereports unless it is
// private for what the relation protects: rows, or all rows of a user.
Node* rewrite_aggregate(QueryLevel* level, Aggref* call);

// Whether an expression calls aggregates.
bool has_aggregate(Node* expression);

// ereports if an aggregate in an expression of the block is none of this extension's: that is a
// clearer reason than what is wrong with the groups of such a query.
void require_private_aggregates(QueryLevel* level, Node* expression);

}  // namespace dpquantile
