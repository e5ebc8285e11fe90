#pragma once

#include "pg/protect/judged_level.hpp"

// Joins in a source or release block. They must not multiply protected rows, so that one row still
// changes an answer as one row. Rows of several tables of one unit may be joined by their user
// columns (unit_join.hpp). A public table gives at most one row for each, or is the public side of
// an outer join (Lemmas 34c and 34e of docs/privacy/relations.md).
namespace dpquantile {

// Looks at FROM and WHERE of a source or release block whose entries are known. Every table beside
// the protected rows must be joined to them by equalities of a unique key of the table. Sets what
// the entries and the level say about joins, relations and user columns. ereports if a join is not
// allowed.
void check_joins(JudgedLevel* level);

// Sets whose rows a level has, when its entries and the one that shows the persons are known.
void find_relations(JudgedLevel* level);

}  // namespace dpquantile
