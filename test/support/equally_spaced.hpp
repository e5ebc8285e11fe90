#pragma once

#include <cstddef>
#include <vector>

namespace dpquantile::test {

// The quantiles i / (m + 1), i = 1 .. m.
inline std::vector<double> equally_spaced(std::size_t m) {
  std::vector<double> quantiles;
  for (std::size_t i = 1; i <= m; ++i) {
    quantiles.push_back(static_cast<double>(i) / static_cast<double>(m + 1));
  }
  return quantiles;
}

}  // namespace dpquantile::test
