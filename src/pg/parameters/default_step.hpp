#pragma once

#include <optional>

#include "pg/server/value_type.hpp"

namespace dpquantile {

// The step of the value grid of a call that gives no granularity: for whole numbers, dates and
// times the smallest round step with which the grid has at most ValueGrid::kDefaultCells cells.
// Round are 1, 2 and 5 times a power of ten; for times also 15 and 30 of a unit, 3, 6 and 12 hours,
// and the same numbers of days as for whole numbers. Empty for numbers with a fraction, whose step
// is the usual part of the range.
std::optional<double> default_step(ValueType type, double lower, double upper);

}  // namespace dpquantile
