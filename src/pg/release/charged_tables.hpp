#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// Which protected tables the rows of a query level are of: the release is charged to their budgets,
// too. The level has them as an entry of its range table that FROM does not name.
namespace dpquantile {

// OIDs of relations; NIL if the rows are of no protected table. Call it once for a level.
void mark_charged_tables(Query* query, List* tables);

// False if the level is not marked. Then nothing is known of its rows.
bool find_charged_tables(const Query* query, List** tables);

}  // namespace dpquantile
