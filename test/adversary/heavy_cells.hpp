#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "adversary/search.hpp"
#include "core/exponential/rank.hpp"
#include "core/histogram/histogram.hpp"

namespace dpquantile::adversary {

// Records in a few cells. A cell takes no more memory for 2^28 records than for one.
using HeavyCells = std::vector<CellRun>;

Histogram histogram_of(const HeavyCells& cells, const Workspace& work);
std::uint64_t records_of(const HeavyCells& cells);
std::string text_of(const HeavyCells& cells);
std::string text_of(const std::vector<double>& quantiles);

// Each of the answers is in one of the heavy cells, named A, B, .., or before one of them, a, b,
// ..; the last small letter is behind all of them.
char class_of(const HeavyCells& cells, std::uint64_t cell);

// Up to this many heavy cells: at one or both ends, next to each other, or anywhere. `scale` is
// about the number of records that decides a draw.
HeavyCells draw_cells(Search& search, std::uint64_t grid, std::size_t most, double scale);

// Ascending, distinct quantiles: evenly, in a cluster near 0 or 1, or about the borders of cells.
std::vector<double> draw_quantiles_about(Search& search, std::size_t count, const HeavyCells& cells,
                                         double scale);

// A grid of 1 to 2^32 cells.
std::uint64_t draw_grid(Search& search);

}  // namespace dpquantile::adversary
