#include "core/user_level/clipping_interval.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/rank.hpp"
#include "core/histogram/histogram.hpp"
#include "core/privacy/noise.hpp"

namespace dpquantile {

namespace {

constexpr std::uint32_t kOne = FixedPoint::kOne;
constexpr double kLevyFailure = 0.2;
constexpr std::uint32_t kQuantileCellUnits = kOne >> 16;

// [0, kOne] cut into cells of equal width; the last one may be shorter, and kOne belongs to it.
struct MeanCells {
  std::uint32_t width;

  std::uint64_t count() const { return (std::uint64_t{kOne} + width - 1) / width; }
  std::uint32_t of(const FilledArray& array) const {
    const std::uint64_t cell = array.sum / array.rows / width;
    return static_cast<std::uint32_t>(std::min(cell, count() - 1));
  }
  std::uint64_t start(std::uint32_t cell) const { return std::uint64_t{cell} * width; }
};

Histogram count_means(std::span<const FilledArray> arrays, MeanCells cells, const Workspace& work) {
  std::pmr::vector<std::uint32_t> records(work.memory);
  records.reserve(arrays.size());
  for (const FilledArray& array : arrays) {
    work.cancel.tick();
    records.push_back(cells.of(array));
  }
  return Histogram(records, cells.count(), work);
}

// Draws the cell of one quantile; epsilon-differentially private for replacing a record.
std::uint32_t draw_cell(const Histogram& data, MeanCells cells, double q, double epsilon,
                        const MechanismContext& context) {
  const double epsilon_for_adding = epsilon * std::max(q, 1 - q);
  const PositionInterval axis{0, cell_start(cells.count())};
  const Position position =
      draw_quantile_position(SmearedRank(data), axis, q, epsilon_for_adding, context);
  return static_cast<std::uint32_t>(cell_at(position));
}

// For each bin, twice the number of array means by which the median misses it.
std::pmr::vector<std::uint64_t> bin_costs(std::span<const FilledArray> arrays, MeanCells bins,
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

bool levy_interval_is_public(std::uint32_t half_width, std::uint64_t arrays, double epsilon) {
  const double spent = epsilon * static_cast<double>(arrays);
  const double width = 4.0 * half_width / kOne;
  const double other_bins = std::ceil(2 / width) - 1;
  const double missed = std::min(1.0, other_bins * std::exp(-spent / 8));
  return 2 * width + missed * spent / 3 >= 1;
}

ClippingInterval draw_levy_interval(std::span<const FilledArray> arrays, std::uint32_t half_width,
                                    double epsilon, const MechanismContext& context) {
  const MeanCells bins{2 * half_width};
  const std::uint64_t start =
      bins.start(draw_bin(bin_costs(arrays, bins, context), epsilon, context));
  const std::uint64_t low = start - std::min<std::uint64_t>(start, half_width);
  return {clamp_units(low), clamp_units(start + bins.width + half_width)};
}

ClippingInterval draw_quantile_interval(std::span<const FilledArray> arrays, double tail,
                                        double epsilon, const MechanismContext& context) {
  const MeanCells cells{kQuantileCellUnits};
  const Histogram means = count_means(arrays, cells, context);
  const auto draw = [&](double q) { return draw_cell(means, cells, q, epsilon / 2, context); };
  const std::uint32_t first = draw(tail);
  const std::uint32_t second = draw(1 - tail);
  const auto [low, high] = std::minmax(first, second);
  return {clamp_units(cells.start(low)), clamp_units(cells.start(high) + cells.width)};
}

}  // namespace dpquantile
