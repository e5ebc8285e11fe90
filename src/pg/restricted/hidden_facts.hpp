#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// Gives a restricted session constants for what tells exact facts, where tools ask for it beside
// what they need. The query must not have been planned.
// - Columns of catalogs that tell of rows (told_by_column.hpp) are the same for all tables. The
//   catalog becomes a subquery that does not read these columns, so that nothing of the query can
//   see them, also not as a whole row. So do catalogs with rows of large objects: it reads those of
//   the role only.
// - Functions that count data (counts_data()) become NULL. Their arguments are not evaluated.
// Only the text of the query decides what is hidden. What is not, because it has another shape or
// is no part of a query when it is planned, is refused when it is executed (denied_catalogs.hpp,
// denied_functions.hpp).
// Returns whether anything was hidden.
bool hide_facts(Query* query);

}  // namespace dpquantile
