#pragma once

#include "pg/limits/person_order_node.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace dpquantile {

// The most bytes of long values that it reads and copies for a row.
inline constexpr double kMostFetchedOfRow = kMostFetched;

// Puts the node that keeps the rows of a person together (pg/limits/person_order_node.hpp) into the
// place of each sort below the window functions over protected rows, and below each grouping by
// persons, which needs no hash table then: its states are those of one group at a time. `hashes`
// are the calls of dpquantile.group_hash() by which rows of windows and groups are told apart, as
// the validator has made them. ereports if the rows of window functions are not sorted by one of
// them first: the validator has found that they are. A grouping without one stays as it is.
void order_persons(PlannedStmt* plan, const List* hashes);

}  // namespace dpquantile
