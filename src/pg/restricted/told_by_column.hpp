#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/bitmapset.h"
#include "nodes/primnodes.h"
}

// The columns of PostgreSQL's catalogs, system columns among them, with facts about rows: their
// number and pages, the oldest transaction that has written or locked one, whether one was updated
// before an index was made, whether so many have changed that autovacuum has analyzed the table.
// And the catalogs with rows of large objects, to which rows of tables may refer.
namespace dpquantile {

bool tells_of_rows(Oid catalog, AttrNumber column);

// What such a column may have for any table, whatever its rows.
Const* constant_for(Oid catalog, AttrNumber column);

// Which rows of a catalog are shown, as a condition on it as entry 1. Null: all of them.
Node* condition_on_rows(Oid catalog);

// The member of selectedCols, a column that there is not, which says that this condition is in the
// query.
constexpr int kHasCondition = 0;

// Whether one of the columns, or the whole row, is among selectedCols of a catalog's permissions,
// or rows without the condition are read.
bool reads_facts(Oid catalog, const Bitmapset* columns);

}  // namespace dpquantile
