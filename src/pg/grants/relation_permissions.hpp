#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// Where a query keeps which rights on its relations PostgreSQL checks. PostgreSQL 16 moved them out
// of the range table. To borrow a relation is to write its owner there as the role to check.
namespace dpquantile {

using RelationPermissions = DPQ_RELATION_PERMISSIONS;

// What PostgreSQL checks for an entry of the query's range table: for a relation, and for a view,
// which the rewriter has replaced by its query. Null for other entries.
RelationPermissions* permissions_of(const Query* query, const RangeTblEntry* entry);

// All that PostgreSQL checks for the query level: RelationPermissions. Some have no relation.
List* all_permissions(const Query* query);

// The owner of a relation, or invalid.
Oid owner_of(Oid relation);

}  // namespace dpquantile
