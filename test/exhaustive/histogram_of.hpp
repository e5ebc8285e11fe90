#pragma once

#include <algorithm>
#include <cstdint>

#include "core/histogram/histogram.hpp"
#include "exhaustive/comparison.hpp"

namespace dpquantile::exhaustive {

// The records of these cells.
inline Histogram histogram_of(const Counts& counts, const Workspace& work) {
  struct Runs {
    const Counts& counts;
    std::size_t next_cell = 0;

    bool next(CellRun& run) {
      while (next_cell < counts.size() && counts[next_cell] == 0) ++next_cell;
      if (next_cell == counts.size()) return false;
      run = {static_cast<std::uint32_t>(next_cell), static_cast<std::uint32_t>(counts[next_cell])};
      ++next_cell;
      return true;
    }
  };
  return Histogram(Runs{counts}, work);
}

}  // namespace dpquantile::exhaustive
