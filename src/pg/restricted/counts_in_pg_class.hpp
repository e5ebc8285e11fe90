#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/bitmapset.h"
#include "nodes/primnodes.h"
}

// The columns of pg_class with numbers of rows, pages and row locks.
namespace dpquantile {

bool is_count(AttrNumber column);

// What such a column has for a table that was never analyzed.
Const* count_of_new_table(AttrNumber column);

// Whether one of them, or the whole row, is among selectedCols of a relation's permissions.
bool reads_counts(const Bitmapset* columns);

}  // namespace dpquantile
