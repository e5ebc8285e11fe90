#include "core/iqr/iqr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/radix_sort.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

namespace {

// A draw from the discrete Laplace distribution of scale sensitivity/epsilon.
std::int64_t noise(RandomStream& random, Rational epsilon, std::uint64_t sensitivity) {
  return discrete_laplace(random, {epsilon.denominator * sensitivity, epsilon.numerator});
}

void clamp_infinities(std::span<double> records, CancelPoll& cancel) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (double& record : records) {
    cancel.tick();
    record = std::clamp(record, -kLargest, kLargest);
  }
}

// The distance to instability in the discretisation in which it is largest.
std::size_t stability(const OrderStatistics& records, const LogGrid& grid, CancelPoll& cancel) {
  const double iqr = records.interquartile_range();
  std::size_t farthest = 0;
  for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
    const IqrBin bin = grid.bin_of(iqr, discretisation);
    farthest = std::max(farthest, distance_to_instability(bin, records, cancel));
  }
  return farthest;
}

// Clamps twice so that no sum overflows; the result is that of clamping the sum.
double noisy_value(double iqr, const LogGrid& grid, Rational epsilon, RandomStream& random) {
  const std::int64_t last = grid.last();
  const std::int64_t drawn = noise(random, epsilon, LogGrid::kStepsPerUnit);
  const std::int64_t step = grid.step_of(iqr) + std::clamp(drawn, -2 * last, 2 * last);
  return grid.value(std::clamp(step, -last, last));
}

std::optional<double> answer_at(const IqrStage& stage, const OrderStatistics& records,
                                const MechanismContext& context) {
  const auto distance = static_cast<std::int64_t>(stability(records, stage.grid, context.cancel));
  const bool stable = noise(context.random, stage.test, 1) > 1 + stage.margin - distance;
  if (!stable) return std::nullopt;

  const double iqr = records.interquartile_range();
  if (iqr == 0) return 0;
  return noisy_value(iqr, stage.grid, stage.release, context.random);
}

}  // namespace

// The noise is limited so that no sum overflows; the limit is far above any number of records.
std::uint64_t noisy_count(std::uint64_t records, Rational epsilon, RandomStream& random) {
  constexpr std::int64_t kNoiseLimit = std::int64_t{1} << 61;
  const std::int64_t drawn = std::clamp(noise(random, epsilon, 1), -kNoiseLimit, kNoiseLimit);
  const std::int64_t count = static_cast<std::int64_t>(records) + drawn;
  return static_cast<std::uint64_t>(std::max(count, static_cast<std::int64_t>(LogGrid::kMinCount)));
}

std::optional<double> interquartile_range_by(std::span<const IqrStage> stages,
                                             const OrderStatistics& records,
                                             const MechanismContext& context) {
  for (const IqrStage& stage : stages) {
    if (const auto answer = answer_at(stage, records, context)) return answer;
  }
  return std::nullopt;
}

std::optional<double> interquartile_range(std::span<double> records, double epsilon, double delta,
                                          const MechanismContext& context) {
  check_epsilon(epsilon);
  check_iqr_delta(delta);

  clamp_infinities(records, context.cancel);
  radix_sort(records, context);
  const std::uint64_t count =
      noisy_count(records.size(), iqr_count_epsilon(epsilon), context.random);
  const IqrPlan plan(count, epsilon, delta);
  return interquartile_range_by(plan.stages(), OrderStatistics(records), context);
}

}  // namespace dpquantile
