#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

// Triggers that run for each row of a table: OLD and NEW have the system columns of stored rows
// (system_columns.hpp), and no permission is checked for them.
namespace dpquantile {

// ereports if a new trigger would show system columns to a restricted role: the role, or one that
// has its rights, owns the function, or the condition (WHEN) reads them. trigger: its OID
void refuse_new_row_trigger(Oid trigger);

// ereports if a statement writes rows of a table that has such a trigger, or of one that is or has
// a partition or a child with one. It locks these as for writing, so that none gets one meanwhile.
// permissions: DPQ_RELATION_PERMISSIONS of each relation
void refuse_row_triggers(const List* permissions);

}  // namespace dpquantile
