#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

// Triggers, for whose functions no permission is checked. Of those that run for each row of a table
// OLD and NEW have the system columns of stored rows (system_columns.hpp).
namespace dpquantile {

// ereports if a restricted role may not call the function of a new trigger (denied_functions.hpp),
// or the trigger would show it system columns: the role, or one that has its rights, owns the
// function, or the condition (WHEN) reads them. trigger: its OID
void refuse_new_trigger(Oid trigger);

// ereports if a statement writes rows of a table or view that has such a trigger, or of one that is
// or has a partition or a child with one. It locks these as for writing, so that none gets one
// meanwhile. permissions: DPQ_RELATION_PERMISSIONS of each relation
void refuse_triggers(const List* permissions);

// ereports if TRUNCATE of a table would call a function that a restricted role may not call.
void refuse_triggers_of_truncate(Oid table);

}  // namespace dpquantile
