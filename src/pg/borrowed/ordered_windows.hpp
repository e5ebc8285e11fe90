#pragma once

#include "pg/limits/person_order_node.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace dpquantile {

// The most bytes of long values that it reads and copies for a row.
inline constexpr double kMostFetchedOfRow = kMostFetched;

// Puts the node that keeps the rows of a person together (pg/limits/person_order_node.hpp) into the
// place of each sort below the window functions over protected rows. ereports if the rows of window
// functions are not sorted by a secret hash first: the validator has found that they are.
void order_windows(PlannedStmt* plan);

}  // namespace dpquantile
