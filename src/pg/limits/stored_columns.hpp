#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

// The planner's view of the rows that a node of this room keeps: its child's columns, and which of
// them nothing above uses.
namespace dpquantile {

// From 1; 0 if the expression is no column.
int find_column(const PathTarget* columns, const void* expression);

// The path, or a copy of it that gives all columns of the table. A scan of a table gives its rows
// as they are if all columns are asked for. Otherwise PostgreSQL makes a row of the columns that
// are used for each.
Path* rows_as_stored(PlannerInfo* root, Path* rows);

// The columns that only `given` has, from 1.
List* columns_left_out(const PathTarget* given, const PathTarget* used);

}  // namespace dpquantile
