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

// The same for a result of at least `from`, which is at most `count`. Takes less time the nearer it
// is to `from`.
template <typename Predicate>
std::size_t partition_point_from(std::size_t from, std::size_t count, Predicate reached) {
  std::size_t step = 1;
  while (step < count - from && !reached(from + step - 1)) {
    from += step;
    step *= 2;
  }
  const std::size_t left = step < count - from ? step : count - from;
  return from + partition_point(left, [&](std::size_t i) { return reached(from + i); });
}

}  // namespace dpquantile
