#pragma once

#include "pg/query/level.hpp"

extern "C" {
#include "access/tableam.h"
#include "nodes/plannodes.h"
#include "utils/snapshot.h"
}

// The rows of public tables that are read while a query is planned: tables that the role may read
// itself, so that nothing of what is read here is new to it. What a plan has of them it keeps to: a
// plan that is made before the rows change and runs after it would leave out those of a new key.
// PostgreSQL's own catalogs are not among them: a restricted session sees constants for what they
// tell of rows (pg/restricted/hidden_facts.hpp), but only in the query that is planned.
namespace dpquantile {

// Whether an entry of a level is a table without row security that nobody has protected, and no
// catalog, so that its rows may be read if the role may read their columns.
bool is_readable_table(const Level* level, int number);

// The index by which the rows of a table that have one of some values in a column are looked up: a
// unique one of this column alone, as old as the snapshot. Invalid if there is none.
Oid index_of_column(Oid relation, AttrNumber column, Snapshot snapshot);

// The columns of a table, row by row. Plain data; an error ends it, too.
struct PublicScan {
  Relation table;
  TableScanDesc scan;  // null where rows are chosen
  PublicChoice choice;
  Oid index;  // of the choice
  Snapshot snapshot;
  int next;              // of the values of the choice
  TupleTableSlot* slot;  // the row; only these columns have been looked at
  List* columns;         // int: numbers of columns, in ascending order
  uint64 digest;         // of the rows so far, whatever their order
  Size bytes;            // that have been read
  bool is_too_large;     // whether a value, or all of them, has too many bytes: then the scan ends
};

// The numbers of columns (Var), each once, in ascending order.
List* sorted_numbers(const List* columns);

// False if the table is gone, a catalog, of another kind than heap, has children, or the role may
// not read the columns; if all rows are wanted and it is large, or some and they cannot be looked
// up.
bool begin_scan(PublicScan* scan, Oid relation, List* columns, const PublicChoice& choice,
                Snapshot snapshot);
bool next_row(PublicScan* scan);
void end_scan(PublicScan* scan);

// Notes that lists or bounds of the statement are those of the rows that have been read.
void note_rows(Statement* statement, const PublicScan& scan);

// Notes this in a plan of the statement.
void mark_rows(PlannedStmt* plan, const Statement* statement);

// ereports if a listed key was computed of a text that is too long to be read beside the rows of
// the plan: rows with it would be in no group.
void require_short_texts(const PlannedStmt* plan, const Statement* statement);

// ereports if the rows that an execution of the plan sees are not those for which it was planned.
// Not for plans without the note.
void require_rows(const PlannedStmt* plan, Snapshot snapshot);

}  // namespace dpquantile
