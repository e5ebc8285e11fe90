#include "adversary/heavy_cells.hpp"

#include <algorithm>
#include <cmath>

namespace dpquantile::adversary {

namespace {

struct Cells {
  const HeavyCells& cells;
  std::size_t next_cell = 0;

  bool next(CellRun& run) {
    if (next_cell == cells.size()) return false;
    run = cells[next_cell++];
    return true;
  }
};

}  // namespace

Histogram histogram_of(const HeavyCells& cells, const Workspace& work) {
  return Histogram(cells.size(), cells.size(), Cells{cells}, work);
}

std::uint64_t records_of(const HeavyCells& cells) {
  std::uint64_t records = 0;
  for (const CellRun& run : cells) records += run.count;
  return records;
}

std::string text_of(const HeavyCells& cells) {
  std::string all = "cells";
  for (const CellRun& run : cells) all += text(" %u:%u", run.cell, run.count);
  return all;
}

std::string text_of(const std::vector<double>& quantiles) {
  std::string all = "quantiles";
  for (std::size_t i = 0; i < std::min<std::size_t>(quantiles.size(), 16); ++i) {
    all += text(" %.17g", quantiles[i]);
  }
  return quantiles.size() > 16 ? all + text(" .. (%zu)", quantiles.size()) : all;
}

char class_of(const HeavyCells& cells, std::uint64_t cell) {
  const auto after =
      std::ranges::lower_bound(cells, cell, {}, [](const CellRun& run) { return run.cell; });
  const auto index = static_cast<char>(after - cells.begin());
  const bool inside = after != cells.end() && after->cell == cell;
  return static_cast<char>((inside ? 'A' : 'a') + index);
}

HeavyCells draw_cells(Search& search, std::uint64_t grid, std::size_t most, double scale) {
  std::vector<std::uint64_t> at;
  const std::size_t count = 1 + search.below(std::min<std::uint64_t>(most, grid));
  const std::uint64_t near = search.below(grid);
  while (at.size() < count) {
    const std::uint64_t places[] = {0, grid - 1, search.below(grid),
                                    std::min(near + search.below(3), grid - 1)};
    at.push_back(places[search.below(4)]);
    std::ranges::sort(at);
    at.erase(std::unique(at.begin(), at.end()), at.end());
  }
  HeavyCells cells;
  for (const std::uint64_t cell : at) {
    const double records = search.chance(0.2) ? 1 : search.log_uniform(1, scale + 1);
    cells.push_back({static_cast<std::uint32_t>(cell), static_cast<std::uint32_t>(records)});
  }
  return cells;
}

std::vector<double> draw_quantiles_about(Search& search, std::size_t count, const HeavyCells& cells,
                                         double scale) {
  std::vector<double> borders = {0};
  for (const CellRun& run : cells) borders.push_back(borders.back() + run.count);
  const double records = std::max(borders.back(), 1.0);
  const std::uint64_t shape = search.below(5);
  const double reach = search.log_uniform(1e-7, 1);
  std::vector<double> quantiles;
  while (quantiles.size() < count) {
    double q = search.uniform(0, 1);
    if (shape == 1) q *= reach;
    if (shape == 2) q = 1 - q * reach;
    if (shape == 3 && search.chance(0.8)) {
      q = (borders[search.below(borders.size())] + search.uniform(-1, 1) * scale) / records;
    }
    if (shape == 4 && search.chance(0.7)) {
      const double end = search.pick({0.0, 0.5, 1.0});
      q = end + (end > 0 ? -q : q) * 0x1p-24;
    }
    if (search.chance(0.03)) q = search.pick({0.0, 1.0});
    quantiles.push_back(std::clamp(q, 0.0, 1.0));
    std::ranges::sort(quantiles);
    quantiles.erase(std::unique(quantiles.begin(), quantiles.end()), quantiles.end());
  }
  return quantiles;
}

std::uint64_t draw_grid(Search& search) {
  const std::uint64_t grids[] = {1, 2, 3, 1024, (1U << 22) + 1, 100000001, 1ULL << 32, 1ULL << 32};
  return grids[search.below(8)];
}

}  // namespace dpquantile::adversary
