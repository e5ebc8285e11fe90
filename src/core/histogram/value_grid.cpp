#include "core/histogram/value_grid.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"

namespace dpquantile {

namespace {

std::uint64_t count_cells(double lower, double upper, double granularity) {
  const double steps = (upper - lower) / granularity;
  if (!(steps <= static_cast<double>(ValueGrid::kMaxCells - 1))) {
    throw ParameterError(
        "the grid must have at most 4294967296 cells, got (upper - lower) / "
        "granularity = " +
            shortest_decimal(steps),
        "Choose a larger granularity or narrower bounds.");
  }
  return static_cast<std::uint64_t>(std::llround(steps)) + 1;
}

}  // namespace

void check_bounds(double lower, double upper) {
  if (!std::isfinite(lower) || !std::isfinite(upper)) {
    throw ParameterError(Argument::kLower,
                         "lower and upper must be finite numbers, got " + shortest_decimal(lower) +
                             " and " + shortest_decimal(upper),
                         "Choose bounds from what is publicly known about the values.");
  }
  if (!(lower < upper)) {
    throw ParameterError(Argument::kLower,
                         "lower must be less than upper, got " + shortest_decimal(lower) + " and " +
                             shortest_decimal(upper),
                         "Choose bounds from what is publicly known about the values.");
  }
  if (!std::isfinite(upper - lower)) {
    throw ParameterError(Argument::kUpper,
                         "upper - lower must be a finite number, got " + shortest_decimal(lower) +
                             " and " + shortest_decimal(upper),
                         "Choose narrower bounds.");
  }
}

void check_granularity(double granularity) {
  if (!std::isfinite(granularity) || !(granularity > 0) || !std::isfinite(1 / granularity)) {
    throw ParameterError(
        "granularity must be a positive finite number, got " + shortest_decimal(granularity),
        "The granularity is the step between possible answers: 1 for whole numbers, 0.01 for "
        "cents.");
  }
}

ValueGrid ValueGrid::create(double lower, double upper, std::optional<double> granularity) {
  check_bounds(lower, upper);
  const double step =
      granularity.value_or((upper - lower) / static_cast<double>(kDefaultCells - 1));
  check_granularity(step);
  return of_cells(lower, upper, step,
                  granularity ? count_cells(lower, upper, step) : kDefaultCells);
}

double ValueGrid::value_of(std::uint32_t cell) const {
  const double value = lower + static_cast<double>(cell) * granularity;
  const double magnitude = std::max(std::abs(lower), std::abs(upper));
  // Adding zero turns a negative zero into a positive one.
  return std::clamp(decimal_of_step(value, granularity, magnitude), lower, upper) + 0.0;
}

}  // namespace dpquantile
