#pragma once

#include <cstdint>
#include <vector>

namespace dpquantile::test {

// Records, each given by its cell, on a grid of that many cells.
struct Dataset {
  std::uint64_t cells;
  std::vector<std::uint32_t> records;
};

}  // namespace dpquantile::test
