#pragma once

#include "pg/protect/judged_level.hpp"

// Which tables a query may read as protected rows, and which it may join with them. Rows on another
// server, TABLESAMPLE and policies of row security are read in ways that these rules do not see:
// they run code of others, or choose a row by the place of the others. A view must protect at least
// the persons that its table protects, or it would be a way around that protection. What is left is
// a function of the rows of each person (Lemma 34a of docs/privacy/relations.md).
namespace dpquantile {

// Whether a table has policies, also if none applies to the role.
bool has_row_security(Oid relation);

// ereports unless the entry of a protected relation is a table of this database, or of a view of
// it, whose rows the query only reads, and without row security.
void check_protected_table(const JudgedLevel* level, const RangeTblEntry* entry,
                           const BorrowedRelation* relation);

// Notes the table and its user column in `relation`. ereports if the table itself, or a
// table with rows in common (shared_rows.hpp), protects the persons of another column.
void check_users_of_table(const JudgedLevel* level, Oid table, AttrNumber user_column,
                          BorrowedRelation* relation);

// ereports if the level is of a view, and reads a relation whose own protection has another user
// column than the one that the view shows as its own, `user_column`. The view's own protection
// counts. It must not protect less than what it reads, a table or another view.
void check_users_of_view(const JudgedLevel* level, Oid relation, AttrNumber user_column);

// Whether an entry that is read with the user's own rights is an ordinary table, without children
// and row security. Everybody writes the system catalogs, so they are none.
bool is_joinable(const RangeTblEntry* entry);

}  // namespace dpquantile
