#include "core/iqr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/epsilon.hpp"
#include "core/error.hpp"
#include "core/radix_sort.hpp"
#include "core/text.hpp"

namespace dpquantile {

namespace {

constexpr std::uint64_t kUnitsOfEpsilon = std::uint64_t{1} << 52;

double as_double(Rational value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

// A draw from the discrete Laplace distribution of scale units/epsilon.
std::int64_t noise(RandomStream& random, Rational epsilon, std::uint64_t units) {
  return discrete_laplace(random, {epsilon.denominator * units, epsilon.numerator});
}

void clamp_infinities(std::span<double> records, CancelPoll& cancel) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (double& record : records) {
    cancel.tick();
    record = std::clamp(record, -kLargest, kLargest);
  }
}

// How far the records are from leaving their bin, in the discretisation in which that is farthest.
std::size_t stability(const OrderStatistics& records, const LogGrid& grid, CancelPoll& cancel) {
  const double iqr = records.interquartile_range();
  std::size_t farthest = 0;
  for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
    const IqrBin bin = grid.bin_of(iqr, discretisation);
    farthest = std::max(farthest, replacements_to_leave(bin, records, cancel));
  }
  return farthest;
}

// Clamped twice so that no sum overflows; it is the same as clamping the sum.
double noisy_value(double iqr, const LogGrid& grid, Rational epsilon, RandomStream& random) {
  const std::int64_t last = grid.last();
  const std::int64_t drawn = noise(random, epsilon, LogGrid::kStepsPerUnit);
  const std::int64_t step = grid.step_of(iqr) + std::clamp(drawn, -2 * last, 2 * last);
  return grid.value(std::clamp(step, -last, last));
}

// The noisy distance of the reasoning for iqr_min_records, two standard deviations too small.
double likely_noisy_distance(double records, const IqrBudget& budget) {
  const double count = records + 4 / as_double(budget.count);
  const double w = std::log1p(1 / std::log(count));
  const double expected = -std::expm1(-std::log(3) * std::expm1(7 * w / 16)) / 4 * records;
  const double test = as_double(budget.test);
  return expected - 2 * std::sqrt(expected + 2 / (test * test));
}

}  // namespace

void check_iqr_delta(double delta) {
  if (delta >= kMinIqrDelta && delta <= kMaxIqrDelta) return;
  throw ParameterError("delta must be between 1e-300 and 0.5, got " + shortest_decimal(delta),
                       "Choose a delta well below 1 / (number of rows), for example 1e-06; "
                       "smaller is more private.");
}

IqrBudget iqr_budget(double epsilon) {
  check_epsilon(epsilon);
  const auto [numerator, denominator] = rational_epsilon(epsilon);
  const std::uint64_t units = kUnitsOfEpsilon / denominator * numerator;
  const std::uint64_t count = units / kIqrCountShare;
  const std::uint64_t part = (units - count) / 2;
  if (count + 2 * part > units) throw std::logic_error("the parts cost more than epsilon");
  return {{count, kUnitsOfEpsilon}, {part, kUnitsOfEpsilon}, {part, kUnitsOfEpsilon}};
}

// Noise of scale 1/e exceeds T with probability exp(-e (T + 1)) / (1 + exp(-e)). The slack is
// beyond the rounding errors of the numerator, below 2^-43, of e and of the division.
std::int64_t iqr_test_margin(double epsilon, double delta) {
  const double e = as_double(iqr_budget(epsilon).test);
  check_iqr_delta(delta);
  constexpr double kSlack = 0x1p-40;
  const double least = (-std::log(delta) - std::log1p(std::exp(-e)) + kSlack) / e;
  return static_cast<std::int64_t>(std::ceil(least)) - 1;
}

// The noise is limited so that no sum overflows, far beyond what any number of records needs.
std::uint64_t noisy_count(std::uint64_t records, Rational epsilon, RandomStream& random) {
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  const std::int64_t drawn = std::clamp(noise(random, epsilon, 1), -kFar, kFar);
  const std::int64_t count = static_cast<std::int64_t>(records) + drawn;
  return static_cast<std::uint64_t>(std::max(count, static_cast<std::int64_t>(LogGrid::kMinCount)));
}

std::optional<double> interquartile_range_on(const LogGrid& grid, const OrderStatistics& records,
                                             double epsilon, double delta, RandomStream& random,
                                             CancelPoll& cancel) {
  const IqrBudget budget = iqr_budget(epsilon);
  const std::int64_t margin = iqr_test_margin(epsilon, delta);
  const auto distance = static_cast<std::int64_t>(stability(records, grid, cancel));
  const bool stable = noise(random, budget.test, 1) > 1 + margin - distance;
  if (!stable) return std::nullopt;

  const double iqr = records.interquartile_range();
  if (iqr == 0) return 0;
  return noisy_value(iqr, grid, budget.release, random);
}

std::optional<double> interquartile_range(std::span<double> records, double epsilon, double delta,
                                          RandomStream& random, CancelPoll& cancel,
                                          std::pmr::memory_resource* memory) {
  const IqrBudget budget = iqr_budget(epsilon);
  check_iqr_delta(delta);

  clamp_infinities(records, cancel);
  radix_sort(records, cancel, memory);
  const LogGrid grid(noisy_count(records.size(), budget.count, random));
  return interquartile_range_on(grid, OrderStatistics(records), epsilon, delta, random, cancel);
}

std::uint64_t iqr_min_records(double epsilon, double delta) {
  const IqrBudget budget = iqr_budget(epsilon);
  const auto margin = static_cast<double>(iqr_test_margin(epsilon, delta));
  std::uint64_t too_few = 1;
  std::uint64_t enough = std::uint64_t{1} << 62;
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    if (likely_noisy_distance(static_cast<double>(middle), budget) > 1 + margin) {
      enough = middle;
    } else {
      too_few = middle;
    }
  }
  return enough;
}

}  // namespace dpquantile
