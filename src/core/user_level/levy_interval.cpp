#include "core/user_level/levy_interval.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/privacy/noise.hpp"
#include "core/user_level/budget_split.hpp"

namespace dpquantile {

namespace {

constexpr std::uint32_t kOne = FixedPoint::kOne;
constexpr double kLevyFailure = 0.2;

// [0, kOne] cut into bins of equal width; the last one may be shorter, and kOne belongs to it.
struct MeanBins {
  std::uint32_t width;

  std::uint64_t count() const { return (std::uint64_t{kOne} + width - 1) / width; }
  std::uint32_t of(const FilledArray& array) const {
    const std::uint64_t bin = array.sum / array.rows / width;
    return static_cast<std::uint32_t>(std::min(bin, count() - 1));
  }
  std::uint64_t start(std::uint32_t bin) const { return std::uint64_t{bin} * width; }
};

// For each bin, twice the number of array means by which the median misses it.
std::pmr::vector<std::uint64_t> bin_costs(std::span<const FilledArray> arrays, MeanBins bins,
                                          const Workspace& work) {
  std::pmr::vector<std::uint64_t> counts(as_size(bins.count()), work.memory);
  for (const FilledArray& array : arrays) {
    work.cancel.tick();
    ++counts[bins.of(array)];
  }
  const std::uint64_t all = arrays.size();
  std::uint64_t below = 0;
  for (std::uint64_t& count : counts) {
    work.cancel.tick();
    const std::uint64_t above = all - below - count;
    below += count;
    const std::uint64_t larger = std::max(below - count, above);
    count = 2 * larger > all ? 2 * larger - all : 0;
  }
  return counts;
}

// The exponential mechanism by rejection sampling.
std::uint32_t draw_bin(const std::pmr::vector<std::uint64_t>& doubled_costs, double epsilon,
                       const MechanismContext& context) {
  const auto [numerator, denominator] = rational_epsilon(epsilon);
  const std::uint64_t least = *std::min_element(doubled_costs.begin(), doubled_costs.end());
  while (true) {
    context.cancel.tick();
    const auto bin = static_cast<std::size_t>(context.random.uniform_below(doubled_costs.size()));
    const uint128_t excess = doubled_costs[bin] - least;
    if (bernoulli_exp(context.random, excess * numerator, uint128_t{denominator} * 4)) {
      return static_cast<std::uint32_t>(bin);
    }
  }
}

std::uint32_t clamp_units(std::uint64_t units) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(units, kOne));
}

}  // namespace

std::uint32_t levy_half_width(std::uint64_t arrays, std::uint64_t array_rows) {
  const double logarithm = std::log(2 * static_cast<double>(arrays) / kLevyFailure);
  const double fraction = std::sqrt(logarithm / (2 * static_cast<double>(array_rows)));
  return static_cast<std::uint32_t>(std::ceil(std::min(fraction, 1.0) * kOne));
}

unsigned levy_interval_parts(std::uint32_t half_width, std::uint64_t arrays,
                             const PrivacyParameter& privacy) {
  const auto count = static_cast<double>(arrays);
  const double width = 4.0 * half_width / kOne;
  const double other_bins = std::ceil(2 / width) - 1;
  double least = expected_noise(privacy);
  unsigned best = 0;
  for (unsigned parts = 1; parts <= kMostIntervalParts; ++parts) {
    const double missed =
        std::min(1.0, other_bins * std::exp(-interval_epsilon(privacy, parts) * count / 4));
    const double rest = expected_noise(share_of(privacy, kBudgetParts - parts));
    const double error = width * rest + missed * count / 3;
    if (error >= least) continue;
    least = error;
    best = parts;
  }
  return best;
}

ClippingInterval draw_levy_interval(std::span<const FilledArray> arrays, std::uint32_t half_width,
                                    double epsilon, const MechanismContext& context) {
  const MeanBins bins{2 * half_width};
  const std::uint64_t start =
      bins.start(draw_bin(bin_costs(arrays, bins, context), epsilon, context));
  const std::uint64_t low = start - std::min<std::uint64_t>(start, half_width);
  return {clamp_units(low), clamp_units(start + bins.width + half_width)};
}

}  // namespace dpquantile
