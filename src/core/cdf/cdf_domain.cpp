#include "core/cdf/cdf_domain.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/tree/level_tree.hpp"

namespace dpquantile {

namespace {

// The edges lie lower than point() says, by this part of a bin. So a value that is an edge in
// decimal belongs to the bin above it, however the edge is rounded in binary.
constexpr double kEdgeShift = 0x1p-24;
constexpr double kMostEdgeShift = 0.25;

double width_of(double lower, double upper, std::uint32_t bins) {
  return (upper - lower) / bins;
}

}  // namespace

std::uint32_t check_bins(double bins) {
  if (bins >= 1 && bins <= LevelTree::kMaxBins && bins == std::floor(bins)) {
    return static_cast<std::uint32_t>(bins);
  }
  throw ParameterError(
      "bins must be a whole number from 1 to 1048576, got " + shortest_decimal(bins),
      "More bins show more detail and cost a little accuracy; 1024 is the default.");
}

CdfDomain CdfDomain::create(double lower, double upper, std::optional<double> bin_count,
                            std::optional<double> value_step) {
  if (bin_count && value_step) {
    throw ParameterError(
        "expected bins or granularity, got both",
        "Give granularity for values on a grid, such as whole numbers, else bins.");
  }
  ValueGrid::create(lower, upper, std::nullopt);  // checks the bounds
  if (value_step) {
    check_granularity(*value_step);
    const double steps = (upper - lower) / *value_step;
    if (!(steps < LevelTree::kMaxBins)) {
      throw ParameterError(
          "a CDF has at most 1048576 values, got (upper - lower) / granularity = " +
              shortest_decimal(steps),
          "Choose a larger granularity or narrower bounds.");
    }
    const ValueGrid values = ValueGrid::create(lower, upper, value_step);
    if (values.cells > LevelTree::kMaxBins) {
      throw ParameterError("a CDF has at most 1048576 values, got " + std::to_string(values.cells) +
                               " from lower to upper in steps of granularity",
                           "Choose a larger granularity or narrower bounds.");
    }
    return {lower, upper, *value_step, static_cast<std::uint32_t>(values.cells)};
  }
  const std::uint32_t bins = check_bins(bin_count.value_or(kDefaultBins));
  return {lower, upper, 0, bins};
}

double CdfDomain::point(std::uint32_t i) const {
  if (discrete()) return grid().value_of(i);
  if (i == bins) return upper;
  const double width = width_of(lower, upper, bins);
  return ValueGrid::of_cells(lower, upper, width, std::uint64_t{bins} + 1).value_of(i);
}

ValueGrid CdfDomain::grid() const {
  if (discrete()) return ValueGrid::create(lower, upper, granularity);
  const double width = width_of(lower, upper, bins);
  const double coarseness = std::max(std::abs(lower), std::abs(upper)) / width;
  const double shift = std::clamp(0x1p-52 * coarseness, kEdgeShift, kMostEdgeShift);
  const double first = lower + width * (0.5 - shift);
  return ValueGrid::of_cells(first, upper, width, bins);
}

}  // namespace dpquantile
