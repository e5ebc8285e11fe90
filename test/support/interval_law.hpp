#pragma once

#include <algorithm>
#include <cmath>
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

// A window of the plan and the array means, as fractions of the range.
inline IntervalLaw law_of_windows(std::span<const double> means, const WindowPlan& plan,
                                  double epsilon) {
  constexpr double kCells = 8192;
  const double lambda = epsilon * (1 - 1.0 / 1024) / 2;
  const auto target = static_cast<double>(plan.clipped);
  IntervalLaw law;
  for (unsigned j = 0; j <= 4 * plan.finest; ++j) {
    const double width = std::round(kCells * std::exp2(-(j / 4.0)));
    for (int i = 0;; ++i) {
      const double low = std::min(std::floor(i * width / 8), kCells - width);
      double below = -target;
      double above = -target;
      for (const double mean : means) {
        const double cell = std::min(std::floor(mean * kCells), kCells - 1);
        below += cell < low;
        above += cell >= low + width;
      }
      const double cost = std::max({std::abs(below), std::abs(above), std::abs(below + above)});
      law[{static_cast<std::uint32_t>(low) << 18, static_cast<std::uint32_t>(low + width) << 18}] +=
          std::exp2(plan.narrow_preference * j / 4) * std::exp(-lambda * cost);
      if (low == kCells - width) break;
    }
  }
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
