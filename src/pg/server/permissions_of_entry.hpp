#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

using RelationPermissions = DPQ_RELATION_PERMISSIONS;

// What PostgreSQL checks for a relation in the query's range table.
RelationPermissions* permissions_of_relation(const Query* query, const RangeTblEntry* entry);

// Takes the entry out of the query's range table, with what PostgreSQL checks for it, and gives it
// to the other query, which has no range table yet. A subquery that shows the same columns and
// names is in its place.
void move_into_subquery(Query* query, RangeTblEntry* entry, Query* subquery);

}  // namespace dpquantile
