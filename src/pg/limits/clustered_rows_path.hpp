#pragma once

#include "pg/parameters/private_call.hpp"

// The planner's half of the node that gives rows group by group (clustered_rows_node.hpp).
namespace dpquantile {

// A path for the node above `rows`. It has their columns, perhaps with others of the table, which
// are NULL. The keys of the level can be hashed, and sorted if the rows are not to come in parts.
Path* make_clustered_rows_path(const GroupingLevel& level, Path* rows, bool in_parts);

// How many of so many groups a part has, where rows come part by part.
double groups_of_part(double groups);

}  // namespace dpquantile
