#pragma once

#include <cstdint>
#include <vector>

namespace dpquantile::test {

// Records, each given by its cell, on a value grid with this number of cells.
struct Dataset {
  std::uint64_t cells;
  std::vector<std::uint32_t> records;
};

}  // namespace dpquantile::test
