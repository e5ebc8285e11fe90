#include "core/iqr/distance_to_instability.hpp"

#include <algorithm>
#include <limits>

namespace dpquantile {

namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// The least i <= most for which holds(i), `most` if there is none. holds must stay true once it is.
template <class Predicate>
std::size_t first_of(std::size_t most, Predicate holds) {
  std::size_t first = 0;
  while (first < most) {
    const std::size_t middle = first + (most - first) / 2;
    if (holds(middle)) {
      most = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

// The least a + b, a <= most_a, b <= most_b, for which leaves(a, b); kNever if there is none. It
// must stay true as a or b grows, so that the least b for each a falls as a grows.
template <class Predicate>
std::size_t least_sum(std::size_t most_a, std::size_t most_b, Predicate leaves,
                      CancelPoll& cancel) {
  std::size_t least = kNever;
  std::size_t b = first_of(most_b, [&](std::size_t tried) { return leaves(0, tried); });
  for (std::size_t a = 0; a <= most_a && a < least; ++a) {
    cancel.tick();
    while (b > 0 && leaves(a, b - 1)) {
      cancel.tick();
      --b;
    }
    if (leaves(a, b)) least = std::min(least, a + b);
  }
  return least;
}

// The replaced records move from between the quartiles to below the lower and above the upper one.
std::size_t replacements_to_widen(double upper, const OrderStatistics& records,
                                  CancelPoll& cancel) {
  const std::size_t low = records.lower_quartile();
  const std::size_t high = records.upper_quartile();
  return least_sum(
      low, records.records() + 1 - high,
      [&](std::size_t a, std::size_t b) { return records.spread(low - a, high + b) >= upper; },
      cancel);
}

// The replaced records move from below the lower and above the upper quartile to between them.
std::size_t replacements_to_narrow(double lower, const OrderStatistics& records,
                                   CancelPoll& cancel) {
  const std::size_t low = records.lower_quartile();
  const std::size_t high = records.upper_quartile();
  return least_sum(
      high - low, high - low,
      [&](std::size_t a, std::size_t b) { return records.spread(low + a, high - b) < lower; },
      cancel);
}

}  // namespace

double OrderStatistics::at(std::size_t rank) const {
  if (rank == 0) return -kLargest;
  return rank > records_.size() ? kLargest : records_[rank - 1];
}

double OrderStatistics::spread(std::size_t low, std::size_t high) const {
  return low < high ? std::min(at(high) - at(low), kLargest) : 0;
}

std::size_t distance_to_instability(const IqrBin& bin, const OrderStatistics& records,
                                    CancelPoll& cancel) {
  return std::min(replacements_to_widen(bin.upper, records, cancel),
                  replacements_to_narrow(bin.lower, records, cancel));
}

}  // namespace dpquantile
