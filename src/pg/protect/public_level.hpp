#pragma once

#include "pg/protect/judged_level.hpp"

// Derived tables and CTEs of public rows in FROM beside protected rows: of tables that the user may
// read, lists, and others of these. They are joined as a table with a unique key is (Lemma 34c of
// docs/privacy/relations.md): by columns that choose at most one of their rows. These follow from
// GROUP BY or DISTINCT, or from unique keys of their tables. Their rows are read while protected
// rows are, so that their expressions are those inside: they neither fail nor are volatile, and
// PostgreSQL plans each for itself.
namespace dpquantile {

// Makes an entry of a source or release block a public level, if it is a derived table or CTE
// without protected rows and answers. ereports if it is, and is not allowed.
void describe_public_level(JudgedLevel* level, int number);

// Whether conditions, which AND combines, choose at most one row of a table, list or public level
// for a row of the entries `known`. The statement will rely on it.
bool fixes_row(const JudgedLevel* level, int number, const List* conditions,
               const Bitmapset* known);

// A column of a table or list that a column of an entry is; null if it is computed.
struct StoredColumn {
  const JudgedEntry* entry;
  AttrNumber number;
};
StoredColumn stored_column(const JudgedEntry& entry, AttrNumber number);

}  // namespace dpquantile
