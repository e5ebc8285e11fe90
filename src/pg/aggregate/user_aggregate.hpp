#pragma once

#include "pg/aggregate/aggregate.hpp"

// The transition functions of the user-level aggregates.
namespace dpquantile {

// Adds a row to the state: (state, user, value, parameters...) returns state; with
// Family::kUserGrids (state, user, grid, value, parameters...). Ignores rows with a NULL user, grid
// or value, and NaN. Infinities and values out of bounds count as the nearer bound. ereports as
// add_row() does, and as make_user_hash() does.
Datum add_user_row(FunctionCallInfo fcinfo, Family family);

}  // namespace dpquantile
