#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/extensible.h"
}

// The plan node that chooses at most some rows of each user, below the grouping of a release node.
// It gives each row of its child, in the same order, with one more column: whether the row is
// chosen. It reads all rows before it gives the first. Rows without a user are not chosen. Which
// rows of a user are chosen depends on the user's own rows, as far as the query uses them, and on
// random keys of the execution (core/contributions/limited_rows.hpp; docs/privacy.md, "Rows of a
// person"). Every row is given, so that a group keeps its place even if none of its rows is chosen.
namespace dpquantile {

// The node's name in EXPLAIN.
inline constexpr char kLimitedRowsName[] = "LimitedRows";

// How PostgreSQL makes the node of a plan. custom_private has two integers: the column of the users
// among those of the child, from 1, and the most rows of a user.
const CustomScanMethods* limited_rows_methods();

// Makes the node known to PostgreSQL. Call it once, when the library is loaded.
void install_limited_rows_node();

}  // namespace dpquantile
