#pragma once

#include "pg/protect/query_level.hpp"

// Which tables a query may read as protected rows, and which it may join with them.
namespace dpquantile {

// ereports unless the entry of a protected relation is a table of this database, or of a view of
// it, whose rows the query only reads, and without row security. Whoever is protected by its table,
// or by tables with rows in common (shared_rows.hpp), must be protected by the query. Notes the
// table in `relation`.
void check_protected_table(const QueryLevel* level, const RangeTblEntry* entry,
                           BorrowedRelation* relation);

// Whether an entry that is read with the user's own rights is an ordinary table, without children
// and row security. Everybody writes the system catalogs, so they are none.
bool is_joinable(const RangeTblEntry* entry);

}  // namespace dpquantile
