#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace dpquantile::test {

// Manohar's smoothing by its formula: value k is the minimum over j >= k of the maximum over i <= j
// of the mean of the values i .. j.
template <class Real>
std::vector<Real> min_max(const std::vector<Real>& values) {
  const std::size_t size = values.size();
  std::vector<Real> sums(size + 1);
  std::partial_sum(values.begin(), values.end(), sums.begin() + 1);
  std::vector<Real> greatest(size, -std::numeric_limits<Real>::infinity());
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      const Real mean = (sums[j + 1] - sums[i]) / static_cast<Real>(j + 1 - i);
      greatest[j] = std::max(greatest[j], mean);
    }
  }
  for (std::size_t k = size; k-- > 1;) greatest[k - 1] = std::min(greatest[k - 1], greatest[k]);
  return greatest;
}

}  // namespace dpquantile::test
