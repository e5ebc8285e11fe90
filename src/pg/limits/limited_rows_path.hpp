#pragma once

#include "pg/limits/row_limit.hpp"
#include "pg/parameters/private_call.hpp"

// The planner's half of the node that limits the rows of each user (limited_rows_node.hpp).
namespace dpquantile {

// The limit of the private aggregates in these columns; without a condition if there is none.
// ereports if there are several, or if the query has grouping sets.
RowLimit row_limit_of(const GroupingLevel& level, const PathTarget* columns);

// A path for the node above `rows`. It has their columns, perhaps with others of the table, which
// are NULL, and after them the limit's condition. The rows have no order; are_sorted: they will be
// sorted by the group keys. ereports if the user is no column of the rows.
Path* make_limited_rows_path(const GroupingLevel& level, Path* rows, const RowLimit& limit,
                             bool are_sorted);

}  // namespace dpquantile
