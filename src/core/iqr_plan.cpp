#include "core/iqr_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

#include "core/epsilon.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace dpquantile {

namespace {

constexpr std::uint64_t kUnitsOfEpsilon = std::uint64_t{1} << 52;

double as_double(Rational value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

// Where a well-behaved interquartile range lies worst in its bins, its distance to their ends in
// units; the density is that of the reasoning for iqr_min_records.
constexpr double kDistanceToEnds = 7.0 / 16;

// The fraction of the records whose replacement takes it out of a bin of that unit.
double fraction_to_leave(double unit) {
  return -std::expm1(-std::log(3) * std::expm1(kDistanceToEnds * unit)) / 4;
}

// The inverse; infinite for fractions that no unit needs.
double unit_left_by(double fraction) {
  if (fraction >= 0.25) return std::numeric_limits<double>::infinity();
  return std::log1p(-std::log1p(-4 * fraction) / std::log(3)) / kDistanceToEnds;
}

// The distance a for which the noisy one is above 1 + T even if it is two standard deviations too
// small: a - 2 sqrt(a + s^2) = 1 + T.
double needed_distance(const IqrStage& stage) {
  const double s = std::numbers::sqrt2 / as_double(stage.test);
  const double least = 1 + static_cast<double>(stage.margin);
  return least + 2 + 2 * std::sqrt(least + 1 + s * s);
}

// What the count leaves of epsilon, in units of 2^-52.
std::uint64_t units_after_count(double epsilon) {
  const auto [numerator, denominator] = rational_epsilon(epsilon);
  const std::uint64_t units = kUnitsOfEpsilon / denominator * numerator;
  return units - iqr_count_epsilon(epsilon).numerator;
}

IqrStage make_stage(const LogGrid& grid, std::uint64_t test, std::uint64_t release, double delta) {
  const Rational test_epsilon{test, kUnitsOfEpsilon};
  return {grid, test_epsilon, iqr_test_margin(test_epsilon, delta), {release, kUnitsOfEpsilon}};
}

// The attempt on a finer scale than the paper's, if there are records enough for one.
std::optional<IqrStage> fine_stage(std::uint64_t count, std::uint64_t units, double delta) {
  constexpr double kReserve = 3;  // times the records that well-behaved data need
  constexpr double kGain = 2;     // at least so much finer
  const std::uint64_t test = units / 3;
  const LogGrid paper(count);
  IqrStage stage = make_stage(paper, test, units - test, delta);
  const double needed = needed_distance(stage) * kReserve;
  const double unit = unit_left_by(needed / static_cast<double>(count));
  if (unit > paper.unit() / kGain) return std::nullopt;
  stage.grid = LogGrid::of_unit(std::max(unit, LogGrid::kLeastUnit));
  return stage;
}

}  // namespace

void check_iqr_delta(double delta) {
  if (delta >= kMinIqrDelta && delta <= kMaxIqrDelta) return;
  throw ParameterError("delta must be between 1e-300 and 0.5, got " + shortest_decimal(delta),
                       "Choose a delta well below 1 / (number of rows), for example 1e-06; "
                       "smaller is more private.");
}

Rational iqr_count_epsilon(double epsilon) {
  check_epsilon(epsilon);
  const auto [numerator, denominator] = rational_epsilon(epsilon);
  return {kUnitsOfEpsilon / denominator * numerator / kIqrCountShare, kUnitsOfEpsilon};
}

// Noise of scale 1/e exceeds T with probability exp(-e (T + 1)) / (1 + exp(-e)). The slack is
// beyond the rounding errors of the numerator, below 2^-43, of e and of the division.
std::int64_t iqr_test_margin(Rational test, double delta) {
  const double e = as_double(test);
  constexpr double kSlack = 0x1p-40;
  const double least = (-std::log(delta) - std::log1p(std::exp(-e)) + kSlack) / e;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(least)) - 1);
}

IqrPlan::IqrPlan(std::uint64_t count, double epsilon, double delta) {
  check_epsilon(epsilon);
  check_iqr_delta(delta);
  std::uint64_t units = units_after_count(epsilon);
  if (const auto fine = fine_stage(count, units, delta / 2)) {
    stages_[count_++] = *fine;
    units -= fine->test.numerator;
    delta /= 2;
  }
  stages_[count_++] = make_stage(LogGrid(count), units / 2, units / 2, delta);
}

std::uint64_t iqr_min_records(double epsilon, double delta) {
  const IqrStage stage = IqrPlan(LogGrid::kMinCount, epsilon, delta).stages().back();
  const double needed = needed_distance(stage);
  const auto too_many = static_cast<std::uint64_t>(4 / as_double(iqr_count_epsilon(epsilon)));
  std::uint64_t too_few = 1;
  std::uint64_t enough = std::uint64_t{1} << 62;
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    const LogGrid grid(middle + too_many);
    if (fraction_to_leave(grid.unit()) * static_cast<double>(middle) > needed) {
      enough = middle;
    } else {
      too_few = middle;
    }
  }
  return enough;
}

double iqr_expected_error(double epsilon, double delta, std::int64_t records) {
  if (records < 1) {
    throw ParameterError("rows must be at least 1, got " + std::to_string(records),
                         "Take a public guess of the number of rows.");
  }
  const auto count = std::max(static_cast<std::uint64_t>(records), LogGrid::kMinCount);
  const IqrPlan plan(count, epsilon, delta);
  const IqrStage& stage = plan.stages().front();
  return std::expm1(stage.grid.unit() * std::log(20) / as_double(stage.release));
}

}  // namespace dpquantile
