#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/execdesc.h"
}

// Relations and columns whose contents tell exact facts about other tables.
namespace dpquantile {

// Whether a restricted session may read what a statement reads of the catalogs: not pg_statistic,
// not pg_statistic_ext_data, not the columns of catalogs that tell of rows (told_by_column.hpp),
// and not the system columns of users' tables, except tableoid: foreign keys lock rows, which xmax
// tells. permissions: DPQ_RELATION_PERMISSIONS of each relation. If not, ereports or returns false.
bool may_read_catalogs(List* permissions, bool ereport_on_violation);

// ereports if the query, which EXPLAIN shows, reads a table behind a view that the user cannot read
// itself: estimates and the choice of the plan would tell its number of rows.
void refuse_plan_of_hidden_table(const QueryDesc* query);

}  // namespace dpquantile
