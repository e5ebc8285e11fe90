#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "access/attnum.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "utils/snapshot.h"
}

// Which conditions choose at most one row of a table, so that a join with it does not multiply the
// rows of the other side (Lemma 34c of docs/privacy/relations.md).
namespace dpquantile {

// The unique index by which conditions, which AND combines, choose at most one row of a table: they
// say that each column of the index is equal to an expression over the entries `known`, constants
// and parameters. Invalid if there is none. The index is a valid, immediate btree index without
// expressions and WHERE, and compares by the operator family and collation of the conditions. A
// condition may convert values of its columns, but not two of them to the same value.
// `number`: the table's entry in the range table of the conditions.
Oid index_that_fixes_row(const List* conditions, Oid table, int number, const Bitmapset* known);

// Whether conditions, which AND combines, say that a column of an entry is equal, by the = of an
// operator family of btree indexes, to an expression over the entries `known`, constants and
// parameters.
bool conditions_fix_column(const List* conditions, int number, const Bitmapset* known,
                           AttrNumber column, Oid family);

// Whether a hash join can find the rows of the entry `number` for rows of the entries `known`, or
// only constants choose them. By an = that can be sorted by but not hashed PostgreSQL would take a
// merge join, which reads as far as one row says (oblivious_joins.hpp).
bool can_be_hashed(const List* conditions, int number, const Bitmapset* known);

// Whether no two rows of a table are equal in some columns, and none of these is NULL: by a unique
// key and constraints. A child may have a row that is equal to one of its parent.
bool are_unique(Oid table, const Bitmapset* columns);

// Whether the index is as old as the snapshot. A snapshot that is older may have rows that were
// equal before the index was made. An index of the current transaction counts as younger.
bool is_as_old(Oid index, Snapshot snapshot);

}  // namespace dpquantile
