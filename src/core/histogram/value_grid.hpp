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
// lower + i * granularity, never above upper. A value is rounded to the decimals that the bounds'
// 15 digits leave, so that a granularity of 0.01 gives exact cents. The call's parameters alone fix
// the grid, never the data, so the low bits of an answer tell nothing (Mironov 2012).
//
// Plain data: aggregate states store it.
struct ValueGrid {
  // cell_of(), which runs for every row of a query, needs the first members.
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

  // `cells` cells in steps of `granularity` from lower; nothing is checked.
  static ValueGrid of_cells(double lower, double upper, double granularity, std::uint64_t cells) {
    return {.lower = lower,
            .cells_per_unit = 1 / granularity,
            .last_cell = static_cast<double>(cells - 1),
            .cells = cells,
            .upper = upper,
            .granularity = granularity};
  }

  // The cell whose value is nearest to x. Values beyond the grid, infinities too, belong to the
  // cell at that end. x must not be NaN.
  std::uint32_t cell_of(double x) const {
    const double position = (x - lower) * cells_per_unit;
    const double clamped = std::min(std::max(position, 0.0), last_cell);
    // Processors convert to signed integers faster.
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(clamped + 0.5));
  }

  // The value released for a cell; cell < cells.
  double value_of(std::uint32_t cell) const;
};

}  // namespace dpquantile
