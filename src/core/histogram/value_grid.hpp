#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace dpquantile {

// Throws ParameterError unless the granularity is positive and finite (and so is its inverse).
void check_granularity(double granularity);

// Throws ParameterError unless lower < upper are finite with a finite difference.
void check_bounds(double lower, double upper);

// The public value grid on which every quantile is released: cells i = 0 .. cells - 1 with value
// lower + i * granularity (rounded to the decimals that the bounds' 15 digits leave, so that a
// granularity of 0.01 gives exact cents; never above upper). It is fixed by the call's parameters
// alone, never by the data, so that the low bits of an answer tell nothing (Mironov 2012).
//
// Plain data: it is stored inside aggregate states.
struct ValueGrid {
  // First what cell_of() needs, for every row of a query.
  double lower;
  double cells_per_unit;  // 1 / granularity
  double last_cell;       // cells - 1
  std::uint64_t cells;    // 1 .. kMaxCells
  double upper;
  double granularity;

  static constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kDefaultCells = std::uint64_t{1} << 20;

  // The grid of round((upper - lower) / granularity) + 1 cells; without a granularity,
  // kDefaultCells cells from lower to upper inclusive.
  // Throws ParameterError unless lower < upper are finite with a finite difference, the
  // granularity is positive and finite, and the grid has at most kMaxCells cells.
  static ValueGrid create(double lower, double upper, std::optional<double> granularity);

  // So many cells at these steps from lower; nothing is checked.
  static ValueGrid of_cells(double lower, double upper, double granularity, std::uint64_t cells) {
    return {.lower = lower,
            .cells_per_unit = 1 / granularity,
            .last_cell = static_cast<double>(cells - 1),
            .cells = cells,
            .upper = upper,
            .granularity = granularity};
  }

  // The cell whose value is nearest to x, clamped to the grid; infinities go to its ends.
  // x must not be NaN.
  std::uint32_t cell_of(double x) const {
    const double position = (x - lower) * cells_per_unit;
    const double clamped = std::min(std::max(position, 0.0), last_cell);
    // Through a signed integer, which processors convert faster.
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(clamped + 0.5));
  }

  // The value released for a cell; cell < cells.
  double value_of(std::uint32_t cell) const;
};

}  // namespace dpquantile
