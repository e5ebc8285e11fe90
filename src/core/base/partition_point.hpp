#pragma once

#include <cstddef>

namespace dpquantile {

// The first index in [0, count) for which `reached` is true, or `count` if there is none. `reached`
// must be monotone: true for every index after one for which it is true.
template <typename Predicate>
std::size_t partition_point(std::size_t count, Predicate reached) {
  if (count == 0) return 0;
  std::size_t first = 0;
  while (count > 1) {
    const std::size_t half = count / 2;
    // This is not a branch, because the processor would mispredict it half of the time.
    first += reached(first + half - 1) ? 0 : half;
    count -= half;
  }
  return first + (reached(first) ? 0 : 1);
}

}  // namespace dpquantile
