#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
}

namespace dpquantile {

// Whether conditions, which AND combines, choose at most one row of a table: they say that each
// column of a unique index is equal to an expression over the entries `known`, constants and
// parameters. The index is a valid, immediate btree index without expressions and WHERE, and
// compares by the operator family and collation of the conditions. `number`: the table's entry in
// the range table of the conditions.
bool conditions_fix_row(const List* conditions, Oid table, int number, const Bitmapset* known);

}  // namespace dpquantile
