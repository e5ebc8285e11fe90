#include "core/iqr/iqr_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

namespace {

// Budgets are counted in quanta of 2^-52.
constexpr std::uint64_t kQuantaOfOne = std::uint64_t{1} << 52;

Rational from_quanta(std::uint64_t quanta) {
  return {quanta, kQuantaOfOne};
}

// Rounded down.
std::uint64_t quanta_of(double epsilon) {
  check_epsilon(epsilon);
  const auto [numerator, denominator] = rational_epsilon(epsilon);
  return kQuantaOfOne / denominator * numerator;
}

double as_double(Rational value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

// The least distance of an interquartile range to the ends of its bin, in units, in the best of the
// discretisations.
constexpr double kDistanceToEnds = 7.0 / 16;

// The fraction of well-behaved records whose replacement takes their interquartile range out of a
// bin of this unit; the reasoning for iqr_min_records gives the density.
double fraction_to_leave(double unit) {
  return -std::expm1(-std::log(3) * std::expm1(kDistanceToEnds * unit)) / 4;
}

// The inverse of fraction_to_leave; infinite for fractions that no unit needs.
double unit_for_fraction(double fraction) {
  if (fraction >= 0.25) return std::numeric_limits<double>::infinity();
  return std::log1p(-std::log1p(-4 * fraction) / std::log(3)) / kDistanceToEnds;
}

// The distance a for which the noisy distance is above 1 + T even if it is two standard deviations
// too small: a - 2 sqrt(a + s^2) = 1 + T.
double needed_distance(Rational test, std::int64_t margin) {
  const double s = std::numbers::sqrt2 / as_double(test);
  const double least = 1 + static_cast<double>(margin);
  return least + 2 + 2 * std::sqrt(least + 1 + s * s);
}

// A stage that spends of `quanta` one part in `parts` on its test.
IqrStage make_stage(const LogGrid& grid, std::uint64_t quanta, std::uint64_t parts, double delta) {
  const std::uint64_t test = quanta / parts;
  return {grid, from_quanta(test), iqr_test_margin(from_quanta(test), delta),
          from_quanta(quanta - test)};
}

constexpr std::uint64_t kPartsOfFine = 3;
constexpr std::uint64_t kPartsOfPaper = 2;

// The only stage for few records, and the last stage for many.
IqrStage paper_stage(std::uint64_t count, std::uint64_t quanta, double delta) {
  return make_stage(LogGrid(count), quanta, kPartsOfPaper, delta);
}

// The stage on a finer scale, if there are enough records for one.
std::optional<IqrStage> fine_stage(std::uint64_t count, std::uint64_t quanta, double delta) {
  constexpr double kReserve = 3;  // times the records that well-behaved data need
  constexpr double kGain = 2;     // the scale must be finer by this factor
  const Rational test_epsilon = from_quanta(quanta / kPartsOfFine);
  const double needed = needed_distance(test_epsilon, iqr_test_margin(test_epsilon, delta));
  const double unit = unit_for_fraction(kReserve * needed / static_cast<double>(count));
  if (unit > LogGrid(count).unit() / kGain) return std::nullopt;
  const LogGrid grid = LogGrid::of_unit(std::max(unit, LogGrid::kLeastUnit));
  return make_stage(grid, quanta, kPartsOfFine, delta);
}

// The release is discrete Laplace noise of scale steps / epsilon on a number of steps that changes
// by less than LogGrid::kStepsPerUnit.
double rho_of_release(const IqrStage& stage) {
  const double epsilon = as_double(stage.release);
  return std::min(rho_of_laplace(epsilon, LogGrid::kStepsPerUnit), rho_of_pure(epsilon));
}

}  // namespace

void check_iqr_delta(double delta) {
  if (delta >= kMinIqrDelta && delta <= kMaxIqrDelta) return;
  throw ParameterError(
      Argument::kDelta, "delta must be between 1e-300 and 0.5, got " + shortest_decimal(delta),
      "Choose a delta far below 1 / (number of rows), for example 1e-06; smaller is "
      "more private. Method quantiles takes delta 0.");
}

Rational iqr_count_epsilon(double epsilon) {
  return from_quanta(quanta_of(epsilon) / kIqrCountDivisor);
}

// Noise of scale 1/e exceeds T with probability exp(-e (T + 1)) / (1 + exp(-e)). kSlack exceeds the
// rounding errors of the numerator, below 2^-43, of e and of the division.
std::int64_t iqr_test_margin(Rational test, double delta) {
  const double e = as_double(test);
  constexpr double kSlack = 0x1p-40;
  const double least = (-std::log(delta) - std::log1p(std::exp(-e)) + kSlack) / e;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(least)) - 1);
}

IqrPlan::IqrPlan(std::uint64_t count, double epsilon, double delta) {
  check_iqr_delta(delta);
  std::uint64_t quanta = quanta_of(epsilon) - iqr_count_epsilon(epsilon).numerator;
  if (const auto fine = fine_stage(count, quanta, delta / 2)) {
    stages_[stage_count_++] = *fine;
    quanta -= fine->test.numerator;
    delta /= 2;
  }
  stages_[stage_count_++] = paper_stage(count, quanta, delta);
}

double rho_of_stages(std::span<const IqrStage> stages) {
  double tests = 0;
  double most = 0;
  for (const IqrStage& stage : stages) {
    tests += rho_of_pure(as_double(stage.test));
    most = std::max(most, tests + rho_of_release(stage));
  }
  return most;
}

// The grids and margins of these plans are of no account.
PrivacyCost iqr_cost(double epsilon, double delta) {
  const Rational count = iqr_count_epsilon(epsilon);
  const std::uint64_t quanta = quanta_of(epsilon) - count.numerator;
  const IqrStage fine = make_stage(LogGrid(LogGrid::kMinCount), quanta, kPartsOfFine, delta);
  const IqrStage last = paper_stage(LogGrid::kMinCount, quanta - fine.test.numerator, delta);
  const IqrStage only = paper_stage(LogGrid::kMinCount, quanta, delta);
  const double rho =
      rho_of_pure(as_double(count)) +
      std::max(rho_of_stages(std::array{only}), rho_of_stages(std::array{fine, last}));
  constexpr double kRounding = 1 + 0x1p-44;  // exceeds the rounding of the sums
  return approximate_cost(epsilon, delta, rho * kRounding);
}

// LogGrid::kMinCount records are far fewer than two stages need, so there is one stage.
std::uint64_t iqr_min_records(double epsilon, double delta) {
  const IqrStage stage = IqrPlan(LogGrid::kMinCount, epsilon, delta).stages().front();
  const double needed = needed_distance(stage.test, stage.margin);
  constexpr double kScalesTooMany = 4;
  const auto too_many =
      static_cast<std::uint64_t>(kScalesTooMany / as_double(iqr_count_epsilon(epsilon)));
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

std::optional<double> iqr_expected_error(double epsilon, double delta, double records) {
  if (!(records >= 1)) {
    throw ParameterError("rows must be at least 1, got " + shortest_decimal(records),
                         "Give a public guess of the number of rows with a value.");
  }
  if (records < static_cast<double>(iqr_min_records(epsilon, delta))) return std::nullopt;
  constexpr double kScalesTooFew = 6;
  constexpr double kMost = 0x1p62;
  const double too_few = kScalesTooFew / as_double(iqr_count_epsilon(epsilon));
  const double count = std::clamp<double>(records - too_few, LogGrid::kMinCount, kMost);
  const IqrPlan plan(static_cast<std::uint64_t>(count), epsilon, delta);
  const IqrStage& stage = plan.stages().front();
  // 19 of 20 draws of the noise are at most this large, and the interquartile range is also rounded
  // down to a step.
  const double units = std::log(20) / as_double(stage.release);
  constexpr double kStep = 1 / static_cast<double>(LogGrid::kStepsPerUnit);
  return std::expm1(stage.grid.unit() * (units + kStep));
}

}  // namespace dpquantile
