#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/bitmapset.h"
#include "nodes/primnodes.h"
}

// The columns of PostgreSQL's catalogs, system columns among them, with facts about rows: their
// number and pages, the oldest transaction that has written or locked one, whether one was updated
// before an index was made, whether so many have changed that autovacuum has analyzed the table.
namespace dpquantile {

bool tells_of_rows(Oid catalog, AttrNumber column);

// What such a column may have for any table, whatever its rows.
Const* constant_for(Oid catalog, AttrNumber column);

// Whether one of them, or the whole row, is among selectedCols of a catalog's permissions.
bool reads_facts(Oid catalog, const Bitmapset* columns);

}  // namespace dpquantile
