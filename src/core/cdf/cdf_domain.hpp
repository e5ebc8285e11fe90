#pragma once

#include <cstdint>
#include <optional>

#include "core/histogram/value_grid.hpp"

namespace dpquantile {

// The number of bins as an integer. Throws ParameterError unless it is a whole number from 1 to
// LevelTree::kMaxBins.
std::uint32_t check_bins(double bins);

// The public bins of a CDF over [lower, upper]. Plain data: it is stored inside aggregate states.
//
// Continuous (granularity 0): `bins` bins of equal width; bin i holds the values from point(i) up
// to but not including point(i + 1), the last one also `upper`. Between two points a curve is a
// straight line.
//
// Discrete (granularity > 0): the values are lower, lower + granularity, ..., as on the ValueGrid
// of these parameters; bin i holds the value point(i), and a curve is a staircase.
//
// Values out of bounds belong to the first and the last bin.
struct CdfDomain {
  double lower;
  double upper;
  double granularity;  // 0: continuous
  std::uint32_t bins;  // 1 .. LevelTree::kMaxBins

  static constexpr std::uint32_t kDefaultBins = 1024;

  // Throws ParameterError for bounds or a granularity that ValueGrid::create() refuses, bins out of
  // range, more values than LevelTree::kMaxBins, and where both bins and granularity are given.
  static CdfDomain create(double lower, double upper, std::optional<double> bin_count,
                          std::optional<double> value_step);

  bool discrete() const { return granularity > 0; }
  // The value of a bin (discrete, i < bins) or the edge of one (continuous, i <= bins).
  double point(std::uint32_t i) const;
  // How values are assigned to bins: cell i of the grid is bin i.
  ValueGrid grid() const;
};

}  // namespace dpquantile
