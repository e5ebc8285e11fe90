#include "core/prefix_sums/prefix_factorization.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/base/int128.hpp"

namespace dpquantile {

namespace {

constexpr unsigned kWeightBits = 9;

// The last steps are about 2^b / sqrt(pi K). With these bits they are above 8, so that rounding
// costs little.
unsigned step_bits(std::uint32_t bins) {
  return 4 + static_cast<unsigned>(std::bit_width(bins - 1)) / 2;
}

// Runs of some 19 % of their first index: four an octave.
std::uint32_t run_width(std::uint32_t begin) {
  return std::max(std::uint32_t{1}, begin * 3 / 16);
}

struct Run {
  std::uint32_t begin;
  std::int64_t step;
};

// The steps 2^b f_i, rounded, averaged over each run. f_0 + ... + f_(n - 1) = 2 n f_n.
std::vector<Run> runs_of_steps(std::uint32_t bins) {
  std::vector<Run> runs;
  const double unit = std::ldexp(1.0, static_cast<int>(step_bits(bins)));
  double coefficient = 1;
  double sum = 0;
  for (std::uint32_t begin = 0; begin < bins;) {
    const std::uint32_t end = std::min(bins, begin + run_width(begin));
    for (double n = begin + 1; n <= end; ++n) coefficient *= (2 * n - 1) / (2 * n);
    const double next = 2.0 * end * coefficient;
    runs.push_back({begin, std::llround(unit * (next - sum) / (end - begin))});
    sum = next;
    begin = end;
  }
  return runs;
}

// The prefix sums with these runs of steps are a filter of their differences.
LagFilter filter_of(std::span<const Run> runs) {
  std::vector<std::uint32_t> lags;
  std::vector<std::int64_t> coefficients;
  std::int64_t before = 0;
  for (const Run& run : runs) {
    if (run.step == before) continue;
    lags.push_back(run.begin);
    coefficients.push_back(run.step - before);
    before = run.step;
  }
  return {std::move(lags), std::move(coefficients)};
}

// The largest w with w^2 * norm <= limit.
std::uint32_t largest_weight(std::uint64_t norm, std::uint64_t limit) {
  const double quotient = static_cast<double>(limit) / static_cast<double>(norm);
  auto weight = static_cast<std::uint32_t>(std::sqrt(quotient)) + 1;
  while (uint128_t{weight} * weight * norm > limit) --weight;
  return weight;
}

std::uint32_t checked_bins(std::uint32_t bins) {
  if (bins >= 1 && bins <= PrefixFactorization::kMaxBins) return bins;
  throw std::invalid_argument("the number of bins is out of range");
}

}  // namespace

PrefixFactorization::PrefixFactorization(std::uint32_t bins, std::pmr::memory_resource* memory)
    : filter_(filter_of(runs_of_steps(checked_bins(bins)))),
      weights_(bins, memory),
      sensitivity_(std::uint64_t{1} << (step_bits(bins) + kWeightBits)) {
  // The column of the last bin holds one step, that of the first bin all of them.
  const auto lags = filter_.lags();
  std::uint64_t step = 0;
  std::uint64_t norm = 0;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < bins; ++i) {
    if (next < lags.size() && lags[next] == i) {
      step += static_cast<std::uint64_t>(filter_.coefficients()[next++]);
    }
    norm += step * step;
    weights_[bins - 1 - i] = largest_weight(norm, sensitivity_ * sensitivity_);
  }
}

std::pmr::vector<std::uint64_t> PrefixFactorization::measure(
    std::span<const std::uint64_t> counts, std::pmr::memory_resource* memory) const {
  std::pmr::vector<std::uint64_t> sums(bins(), memory);
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = sum += counts[j] * weights_[j];
  std::pmr::vector<std::uint64_t> measured(bins(), memory);
  filter_.apply(sums, measured);
  return measured;
}

void PrefixFactorization::estimate(std::span<double> measurements) const {
  filter_.invert(measurements);
  double before = 0;
  double estimate = 0;
  for (std::size_t k = 0; k < measurements.size(); ++k) {
    estimate += (measurements[k] - before) / weights_[k];
    before = measurements[k];
    measurements[k] = estimate;
  }
}

std::pmr::vector<double> PrefixFactorization::estimate_weights(
    std::uint32_t k, std::pmr::memory_resource* memory) const {
  std::pmr::vector<double> row(std::size_t{k} + 1, memory);
  row[k] = 1.0 / weights_[k];
  for (std::uint32_t j = 0; j < k; ++j) row[j] = 1.0 / weights_[j] - 1.0 / weights_[j + 1];
  filter_.invert_transposed(row);
  return row;
}

}  // namespace dpquantile
