#pragma once

#include "pg/aggregate/aggregate.hpp"

// The transition of the user-level aggregates.
namespace dpquantile {

// Adds a row to the state: (state, user, value, parameters...) returns state; with
// Family::kUserGrids (state, user, grid, value, parameters...). Rows with a NULL among them and NaN
// are ignored; infinities and values out of bounds count as the nearer bound.
Datum add_user_row(FunctionCallInfo fcinfo, Family family);
// The same for numeric values.
Datum add_numeric_user_row(FunctionCallInfo fcinfo, Family family);

}  // namespace dpquantile
