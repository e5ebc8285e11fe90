#pragma once

#include <cstdint>
#include <optional>

#include "core/histogram/value_grid.hpp"

namespace dpquantile {

// The number of bins as an integer. Throws ParameterError unless it is a whole number from 1 to
// LevelTree::kMaxBins.
std::uint32_t check_bins(double bins);

// The public bins of a CDF over [lower, upper]. Plain data: aggregate states store it.
//
// Continuous (granularity 0): `bins` bins of equal width. Bin i holds the values from point(i) up
// to but not including point(i + 1); the last bin also holds `upper`. Between two points a curve is
// a straight line.
//
// Discrete (granularity > 0): the values are lower, lower + granularity, ..., as on the ValueGrid
// of these parameters. Bin i holds the value point(i), and a curve is a staircase.
//
// Values below lower belong to the first bin, values above upper to the last bin.
struct CdfDomain {
  double lower;
  double upper;
  double granularity;  // 0: continuous
  std::uint32_t bins;  // 1 .. LevelTree::kMaxBins
  // What the numbers stand for. Core keeps this number and gives it back; the caller knows what it
  // means. 0: the numbers are the values.
  std::uint8_t value_type = 0;

  static constexpr std::uint32_t kDefaultBins = 1024;

  // A discrete domain if value_step is given, else a continuous one with bin_count bins
  // (kDefaultBins without it). Throws ParameterError for bounds or a granularity that
  // ValueGrid::create() refuses, for bins out of range, for more values than LevelTree::kMaxBins,
  // and if both bins and granularity are given. The values are numbers.
  static CdfDomain create(double lower, double upper, std::optional<double> bin_count,
                          std::optional<double> value_step);

  bool discrete() const { return granularity > 0; }
  // The value of bin i (discrete, i < bins) or the edge i (continuous, i <= bins).
  double point(std::uint32_t i) const;
  // The value grid that assigns values to bins: its cell i is bin i.
  ValueGrid grid() const;
};

}  // namespace dpquantile
