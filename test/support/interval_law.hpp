#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/contributions/fixed_point.hpp"
#include "core/user_level/clipping_interval.hpp"
#include "core/user_level/window_interval.hpp"

// The laws of the private intervals of 'levy' and 'quantile', computed directly from their
// definitions.
namespace dpquantile::test {

// The probabilities of the intervals (low, high) in FixedPoint units.
using IntervalLaw = std::map<std::pair<std::uint32_t, std::uint32_t>, long double>;

inline void normalise(IntervalLaw& law) {
  long double sum = 0;
  for (const auto& [interval, weight] : law) sum += weight;
  for (auto& [interval, weight] : law) weight /= sum;
}

inline constexpr std::uint32_t kWindowCells = 8192;

// How many array means lie below each of the 8193 ends of cells; the means are fractions of the
// range.
inline std::vector<std::uint64_t> means_below_cells(std::span<const double> means) {
  std::vector<std::uint64_t> below(kWindowCells + 1);
  for (const double mean : means) {
    const double cell = std::min(std::floor(mean * kWindowCells), kWindowCells - 1.0);
    ++below[static_cast<std::size_t>(cell) + 1];
  }
  for (std::size_t cell = 0; cell < kWindowCells; ++cell) below[cell + 1] += below[cell];
  return below;
}

// Calls visit(begin, end, weight) for each window of the plan, begin and end in cells. The weights
// are those of the law, but do not sum to 1.
template <class Visit>
void for_each_weighted_window(const std::vector<std::uint64_t>& below, const WindowPlan& plan,
                              double epsilon, Visit visit) {
  const double lambda = epsilon * (1 - 1.0 / 1024) / 2;
  const auto all = static_cast<std::int64_t>(below.back());
  const auto target = static_cast<std::int64_t>(plan.clipped);
  std::vector<double> by_cost;  // a cost is at most 2 max(all, target)
  for (std::int64_t cost = 0; cost <= 2 * std::max(all, target); ++cost)
    by_cost.push_back(std::exp(-lambda * static_cast<double>(cost)));
  for (unsigned j = 0; j <= 4 * plan.finest; ++j) {
    const double width = std::round(kWindowCells * std::exp2(-(j / 4.0)));
    const double preference = std::exp2(plan.narrow_preference * j / 4);
    for (int i = 0;; ++i) {
      const double low = std::min(std::floor(i * width / 8), kWindowCells - width);
      const auto begin = static_cast<std::uint32_t>(low);
      const auto end = static_cast<std::uint32_t>(low + width);
      const std::int64_t l = static_cast<std::int64_t>(below[begin]) - target;
      const std::int64_t r = all - static_cast<std::int64_t>(below[end]) - target;
      const std::int64_t cost = std::max({std::abs(l), std::abs(r), std::abs(l + r)});
      visit(begin, end, preference * by_cost[static_cast<std::size_t>(cost)]);
      if (low == kWindowCells - width) break;
    }
  }
}

// A window of the plan and the array means, as fractions of the range.
inline IntervalLaw law_of_windows(std::span<const double> means, const WindowPlan& plan,
                                  double epsilon) {
  IntervalLaw law;
  for_each_weighted_window(means_below_cells(means), plan, epsilon,
                           [&](std::uint32_t begin, std::uint32_t end, double weight) {
                             law[{begin << 18, end << 18}] += weight;
                           });
  normalise(law);
  return law;
}

// The range is divided into bins of two half-widths; a half-width is added on both sides.
inline IntervalLaw law_of_levy(std::span<const FilledArray> arrays, std::uint32_t half_width,
                               double epsilon) {
  constexpr std::uint64_t kOne = FixedPoint::kOne;
  const std::uint64_t width = 2 * std::uint64_t{half_width};
  IntervalLaw law;
  for (std::uint64_t begin = 0; begin < kOne; begin += width) {
    double below = 0;
    double above = 0;
    for (const FilledArray& array : arrays) {
      const std::uint64_t mean = std::min(array.sum / array.rows, kOne - 1);
      below += mean < begin;
      above += mean >= begin + width;
    }
    const double half = static_cast<double>(arrays.size()) / 2;
    const std::uint64_t low = begin - std::min<std::uint64_t>(begin, half_width);
    const std::uint64_t high = std::min(begin + width + half_width, kOne);
    law[{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high)}] +=
        std::exp(-epsilon / 2 * std::max({0.0, below - half, above - half}));
  }
  normalise(law);
  return law;
}

}  // namespace dpquantile::test
