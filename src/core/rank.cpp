#include "core/rank.hpp"

namespace dpquantile {

namespace {

// The first index in [0, count) for which `reached` holds; it must be monotone.
template <typename Predicate>
std::size_t partition_point(std::size_t count, Predicate reached) {
  std::size_t first = 0;
  while (count > 0) {
    const std::size_t half = count / 2;
    if (reached(first + half)) {
      count = half;
    } else {
      first += half + 1;
      count -= half + 1;
    }
  }
  return first;
}

}  // namespace

std::size_t SmearedRank::first_run_reaching(ScaledRank rank) const {
  return partition_point(data_.runs(), [&](std::size_t run) { return before(run + 1) >= rank; });
}

std::size_t SmearedRank::first_run_beyond(ScaledRank rank) const {
  return partition_point(data_.runs(), [&](std::size_t run) { return before(run) > rank; });
}

}  // namespace dpquantile
