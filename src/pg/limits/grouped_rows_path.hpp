#pragma once

#include "pg/limits/grouped_rows_node.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

// The planner's half of the node that groups rows (grouped_rows_node.hpp).
namespace dpquantile {

// A path for the node in the place of this grouping, which gives states. The grouping is one of
// sorted rows (AGG_SORTED), its keys can be hashed, and its aggregates are private.
Path* make_grouped_rows_path(Path* grouping, const GroupedRowsPlan& plan);

// The same in the place of a hash table of parallel workers, whose states are combined above this
// path: a copy of the path, with other kinds of nodes as they are.
Path* with_grouped_partial_rows(Path* path, const GroupedRowsPlan& plan);

}  // namespace dpquantile
