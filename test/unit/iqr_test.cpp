#include "core/iqr.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "case_name.hpp"
#include "core/error.hpp"
#include "core/log_grid.hpp"
#include "iqr_reference.hpp"
#include "iqr_sampler.hpp"
#include "law_testing.hpp"
#include "parameter_error.hpp"
#include "random_testing.hpp"

// Statistical checks state their false-alarm probability: kLawFalseAlarm, or beside the test.
namespace dpquantile {
namespace {

using test::case_name;
using test::expect_parameter_error;
using test::FailingSource;
using test::IqrOutcomes;
using test::IqrSampler;
using test::kLargestRecord;
using test::kLawFalseAlarm;
using test::law_p_value;
using test::Real;
using test::Records;
using test::reference_iqr;
using test::reference_margin;
using test::runs;
using test::sorted;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

std::optional<double> release(Records records, double epsilon, double delta) {
  return IqrSampler(std::move(records), epsilon, delta).draw();
}

// The noise then has a scale of 1/500 record and of 2.05 steps of the grid.
constexpr double kLittleNoise = 1000;

// --- The plan ------------------------------------------------------------------------------------

// Whatever the stages, one of which is the last to be tried.
Real spent_by(const IqrPlan& plan, double epsilon) {
  const auto exactly = [](Rational part) {
    return static_cast<Real>(part.numerator) / static_cast<Real>(part.denominator);
  };
  Real tests = exactly(iqr_count_epsilon(epsilon));
  Real most = 0;
  for (const IqrStage& stage : plan.stages()) {
    tests += exactly(stage.test);
    most = std::max(most, tests + exactly(stage.release));
  }
  return most;
}

TEST(IqrPlan, SpendsEpsilonAndNotMore) {
  constexpr Real kUnit = 0x1p-52L;
  for (const double epsilon : {1e-6, 1.1e-6, 0.001, 0.1, 0.3, 0.5, 1.0, 1.5, 3.0, 999.9, 1000.0}) {
    for (const std::uint64_t count : {3ULL, 1000ULL, 1'000'000ULL, 1ULL << 40, 1ULL << 62}) {
      const Real spent = spent_by(IqrPlan(count, epsilon, 1e-6), epsilon);
      EXPECT_LE(spent, static_cast<Real>(epsilon)) << epsilon << " " << count;
      EXPECT_GE(spent, static_cast<Real>(epsilon) - 4 * kUnit) << epsilon << " " << count;
    }
  }
}

TEST(IqrPlan, OfFewRecordsIsThePapersScaleAlone) {
  for (const double epsilon : {0x1p-10, 0.125, 1.0, 3.0, 64.0}) {
    const IqrPlan plan(3, epsilon, 1e-6);
    ASSERT_EQ(plan.stages().size(), 1U);
    const IqrStage& stage = plan.stages()[0];
    const auto exactly = [](Rational part) {
      return static_cast<Real>(part.numerator) / static_cast<Real>(part.denominator);
    };
    EXPECT_EQ(exactly(iqr_count_epsilon(epsilon)), test::count_epsilon(epsilon));
    EXPECT_EQ(exactly(stage.test), test::part_epsilon(epsilon));
    EXPECT_EQ(exactly(stage.release), test::part_epsilon(epsilon));
    EXPECT_EQ(stage.margin, reference_margin(epsilon, 1e-6));
    EXPECT_EQ(stage.grid.value(1024), LogGrid(std::uint64_t{3}).value(1024));
  }
}

// --- The count -----------------------------------------------------------------------------------

TEST(NoisyCount, HasTheLawThatTheProofIsAbout) {
  constexpr int kDraws = 100'000;
  constexpr std::int64_t kWidth = 16;
  CsprngSource source;
  RandomStream random(source);
  for (const std::int64_t records : {0, 1, 2, 3, 100, 5000}) {
    for (const double epsilon : {1.0, 8.0}) {
      const std::int64_t first = std::max<std::int64_t>(3, records - 50 * kWidth);
      const auto index_of = [&](std::int64_t count) {
        return static_cast<std::size_t>(std::clamp<std::int64_t>((count - first) / kWidth, 0, 99));
      };
      std::vector<double> law(100);
      for (std::int64_t count = 3; count < records + 10'000; ++count) {
        law[index_of(count)] += static_cast<double>(
            test::count_probability(static_cast<std::size_t>(records), count, epsilon));
      }
      std::vector<std::uint64_t> observed(100);
      for (int i = 0; i < kDraws; ++i) {
        const std::uint64_t count =
            noisy_count(static_cast<std::uint64_t>(records), iqr_count_epsilon(epsilon), random);
        ++observed[index_of(static_cast<std::int64_t>(count))];
      }
      EXPECT_GT(law_p_value(observed, law), kLawFalseAlarm) << records << " " << epsilon;
    }
  }
}

TEST(NoisyCount, IsAtLeastThreeAndNeverOverflows) {
  CsprngSource source;
  RandomStream random(source);
  for (const std::uint64_t records : {0ULL, 5ULL, 1ULL << 32, 1ULL << 48}) {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_GE(noisy_count(records, iqr_count_epsilon(1e-6), random), 3U);
      const std::uint64_t count = noisy_count(records, {1, std::uint64_t{1} << 55}, random);
      EXPECT_GE(count, 3U);
      EXPECT_LE(count, std::uint64_t{1} << 62);
    }
  }
}

// The margin of the only attempt for few records.
std::int64_t margin_of(double epsilon, double delta) {
  return IqrPlan(3, epsilon, delta).stages()[0].margin;
}

// --- The test's margin ---------------------------------------------------------------------------

TEST(IqrTestMargin, IsTheLeastThatNoiseExceedsWithProbabilityDelta) {
  for (const double epsilon : {0x1p-10, 0.125, 0.5, 1.0, 3.0, 10.0, 100.0}) {
    for (const double delta : {0.5, 0.4, 0.1, 0.01, 1e-6, 1e-12, 1e-100, 1e-300}) {
      EXPECT_EQ(margin_of(epsilon, delta), reference_margin(epsilon, delta))
          << epsilon << " " << delta;
    }
  }
}

// Where rounding could go wrong: deltas at which the margin changes, and the doubles around them.
TEST(IqrTestMargin, KeepsDeltaToTheLastBit) {
  for (const double epsilon : {0.125, 1.0, 3.0}) {
    const test::LaplaceLaw noise(test::part_epsilon(epsilon));
    for (std::int64_t margin = 1; margin < 200; ++margin) {
      const double limit = static_cast<double>(noise.at_least(margin + 1));
      for (const double delta :
           {std::nextafter(limit, 0), limit, std::nextafter(limit, 1), limit * (1 + 1e-9)}) {
        const std::int64_t chosen = margin_of(epsilon, delta);
        ASSERT_LE(noise.at_least(chosen + 1), static_cast<Real>(delta));
        ASSERT_GE(chosen, margin);
      }
      ASSERT_EQ(margin_of(epsilon, limit * (1 + 1e-9)), margin);
    }
  }
}

TEST(IqrTestMargin, IsFiniteForTheSmallestParameters) {
  EXPECT_NEAR(static_cast<double>(margin_of(1e-6, 1e-300)), 1.402e9, 1e6);
  EXPECT_EQ(margin_of(1000, 0.5), 0);
  EXPECT_EQ(margin_of(1e-6, 0.5), 0);
}

// --- The law of the answer -----------------------------------------------------------------------

struct LawCase {
  std::string name;
  Records records;
  double epsilon;
  double delta;
};

void PrintTo(const LawCase& law_case, std::ostream* out) {
  *out << law_case.name;
}

// On the grid for as many records as there are, in 60 ranges that reach three scales of the noise
// to either side.
IqrOutcomes outcomes_around(const Records& ascending, double epsilon) {
  const auto grid = std::max<std::uint64_t>(3, ascending.size());
  const double iqr = reference_iqr(ascending);
  const std::int64_t centre = iqr == 0 ? 0 : LogGrid(grid).step_of(iqr);
  const std::int64_t width = std::max<std::int64_t>(1, std::lround(204.8 / epsilon));
  return {grid, centre - 30 * width, width, 60};
}

class IqrLaw : public ::testing::TestWithParam<LawCase> {};

TEST_P(IqrLaw, IsTheOneThatTheProofIsAbout) {
  constexpr int kDraws = 100'000;
  const auto& [name, records, epsilon, delta] = GetParam();
  const Records ascending = sorted(records);
  const IqrOutcomes outcomes = outcomes_around(ascending, epsilon);
  const std::vector<Real> law = outcomes.law(ascending, epsilon, delta);
  IqrSampler sampler(records, epsilon, delta);
  std::vector<std::uint64_t> observed(outcomes.size());
  const LogGrid grid(outcomes.grid);
  for (int i = 0; i < kDraws; ++i) ++observed[outcomes.index(sampler.draw_on(grid))];
  EXPECT_GT(law_p_value(observed, std::vector<double>(law.begin(), law.end())), kLawFalseAlarm);
}

// The whole mechanism: the same on the grid of the private count.
class WholeIqrLaw : public ::testing::TestWithParam<LawCase> {};

TEST_P(WholeIqrLaw, IsThatOnTheGridOfAPrivateCount) {
  constexpr int kDraws = 100'000;
  const auto& [name, records, epsilon, delta] = GetParam();
  const Records ascending = sorted(records);
  const test::WholeIqrOutcomes outcomes(outcomes_around(ascending, epsilon / 2));
  const std::vector<Real> law = outcomes.law(ascending, epsilon, delta);
  IqrSampler sampler(records, epsilon, delta);
  std::vector<std::uint64_t> observed(outcomes.size());
  for (int i = 0; i < kDraws; ++i) ++observed[outcomes.index(sampler.draw())];
  EXPECT_GT(law_p_value(observed, std::vector<double>(law.begin(), law.end())), kLawFalseAlarm);
}

INSTANTIATE_TEST_SUITE_P(
    Of, WholeIqrLaw,
    ::testing::Values(LawCase{"NoRecords", {}, 8, 0.3}, LawCase{"OneRecord", {4}, 8, 0.3},
                      LawCase{"TwoRecords", {4, -1}, 8, 0.3},
                      LawCase{"TwelveRecords", runs({{7, 3}, {2, 3}, {3, 3}, {9, 3}}), 4, 0.3},
                      LawCase{"Stable", runs({{0, 20}, {1.5, 20}}), 8, 0.1},
                      LawCase{"AllEqual", Records(20, 3.5), 4, 0.001}),
    case_name);

// An end of a bin of a discretisation for 40 records.
const double kHalf = LogGrid(40).value(512);
const double kBelowHalf = std::nextafter(kHalf, 0);

INSTANTIATE_TEST_SUITE_P(
    Of, IqrLaw,
    ::testing::Values(
        LawCase{"NoRecords", {}, 1, 0.5}, LawCase{"OneRecord", {7}, 1, 0.3},
        LawCase{"TwoRecords", {3, 1}, 1, 0.3}, LawCase{"TwoEqual", {3, 3}, 1, 0.3},
        LawCase{"ThreeRecords", {3, 1, 2}, 1, 0.5}, LawCase{"FourRecords", {-1, 1, 2, 5}, 0.5, 0.5},
        LawCase{"Unsorted", {9, 1, 8, 2, 7, 3, 6, 4, 5, 0}, 1, 0.1},
        LawCase{"AllEqual", Records(20, 3.5), 1, 0.1},
        LawCase{"AlmostZero", runs({{0, 14}, {1, 6}}), 1, 0.1},
        LawCase{"HalfEqual", runs({{-2, 5}, {0, 10}, {3, 5}}), 2, 0.05},
        LawCase{"HeavyTies", runs({{1, 30}, {2, 30}}), 1, 0.01},
        LawCase{"BelowAnEdge", runs({{0, 20}, {std::nextafter(1, 0), 20}}), 1, 0.1},
        LawCase{"AtAnEdge", runs({{0, 20}, {1, 20}}), 1, 0.1},
        LawCase{"AcrossAWholeEdge", runs({{0, 20}, {std::nextafter(1, 0), 10}, {1, 10}}), 1, 0.1},
        LawCase{"AcrossAHalfEdge", runs({{0, 20}, {kBelowHalf, 10}, {kHalf, 10}}), 1, 0.1},
        LawCase{"LittleNoise", runs({{0, 20}, {1.5, 20}}), 64, 0.1},
        LawCase{"MuchNoise", runs({{0, 20}, {1.5, 20}}), 0.0625, 0.5},
        LawCase{"Huge", runs({{-1e308, 20}, {1.5e308, 20}}), 1, 0.1},
        LawCase{"Tiny", runs({{0, 20}, {kLeast, 20}}), 1, 0.1}),
    case_name);

// --- Odd records ---------------------------------------------------------------------------------

// Every answer is positive, finite and normal, or exactly +0; and on a given grid one of its
// values.
void expect_public_answers(const Records& records) {
  constexpr int kDraws = 50;
  for (const double epsilon : {1e-6, 0.01, 1.0, kLittleNoise}) {
    IqrSampler sampler(records, epsilon, 0.5);
    for (int i = 0; i < kDraws; ++i) {
      const std::optional<double> answer = sampler.draw();
      if (!answer) continue;
      ASSERT_TRUE(std::isfinite(*answer));
      ASSERT_FALSE(std::signbit(*answer));
      if (*answer == 0) continue;
      ASSERT_GE(*answer, 1e-308);
    }
    const LogGrid grid(40);
    for (int i = 0; i < kDraws; ++i) {
      const std::optional<double> answer = sampler.draw_on(grid);
      if (!answer || *answer == 0) continue;
      ASSERT_EQ(grid.value(grid.step_of(*answer)), *answer);
    }
  }
}

TEST(IqrOfOddRecords, IsAPublicValue) {
  const std::vector<double> odd = {
      0.0,       -0.0,      1,      -1,     1e-320,         -kLeast,
      kLeast,    1e308,     -1e308, 3e-308, kLargestRecord, -kLargestRecord,
      kInfinity, -kInfinity};
  for (const double one : odd) {
    for (const double other : odd) {
      for (const int copies : {1, 2, 20}) {
        expect_public_answers(runs({{one, copies}, {other, copies}, {0.5, 1}}));
        expect_public_answers(runs({{one, 2 * copies}, {other, 2 * copies}}));
      }
    }
  }
}

// With a probability of 1e-300 it is something.
TEST(IqrOfFewRecords, IsNothing) {
  for (const Records& records : {Records{}, Records{1}, Records{1, 2}, Records{kInfinity, 0},
                                 Records{3, 3}, Records{1, 2, 3}}) {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(release(records, 1e-6, 1e-300), std::nullopt);
      EXPECT_EQ(release(records, kLittleNoise, 1e-300), std::nullopt);
    }
  }
}

// No rule on their number: with a delta of a half they are answered half of the time. (Only
// nothing in 200 releases has a probability of 10^-60.)
TEST(IqrOfFewRecords, IsNotAlwaysNothing) {
  for (const Records& records : {Records{}, Records{1}, Records{1, 2}}) {
    int answers = 0;
    for (int i = 0; i < 200; ++i) answers += release(records, 1e-6, 0.5).has_value();
    EXPECT_GT(answers, 0);
  }
}

// At a distance of 25 the test fails with a probability below e^-10000. A relative 0.02 is more
// than 100 steps, which the noise exceeds with probability e^-48 each time.
TEST(IqrOfStableRecords, IsCloseIfThereIsLittleNoise) {
  const auto expect = [](const Records& records, double iqr) {
    const std::optional<double> answer = release(records, kLittleNoise, 1e-12);
    ASSERT_TRUE(answer.has_value());
    EXPECT_NEAR(*answer / iqr, 1, 0.02);
  };
  expect(runs({{0, 50}, {10, 50}}), 10);
  expect(runs({{-5, 50}, {-4, 50}}), 1);
  expect(runs({{1e-300, 50}, {3e-300, 50}}), 2e-300);
  expect(runs({{-kInfinity, 50}, {0, 50}}), 3.023e307);
  expect(runs({{-kInfinity, 50}, {kInfinity, 50}}), 3.023e307);
  expect(runs({{0, 50}, {kLeast, 50}}), 3.307e-308);
}

TEST(IqrOfEqualRecords, IsExactlyZero) {
  for (const double value : {0.0, -0.0, 5.0, -1e308, kLeast, kInfinity, -kInfinity}) {
    EXPECT_EQ(release(Records(100, value), kLittleNoise, 1e-12), 0) << value;
  }
  Records zeros = runs({{-0.0, 50}, {0.0, 50}});
  EXPECT_EQ(release(zeros, kLittleNoise, 1e-12), 0);
}

// 0.01 is more than 120 steps.
TEST(IqrOfManyRecords, IsThatOfTheSortedRecords) {
  std::mt19937_64 random(9);
  std::exponential_distribution<double> exponential;
  Records records(100'000);
  for (double& record : records) record = -exponential(random);
  const std::optional<double> answer = release(records, kLittleNoise, 1e-12);
  ASSERT_TRUE(answer.has_value());
  EXPECT_NEAR(*answer / reference_iqr(sorted(records)), 1, 0.01);
}

// --- What it takes from outside ------------------------------------------------------------------

class IqrFailure : public ::testing::Test {
 protected:
  static std::optional<double> release_from(RandomSource& source, CancelPoll::Predicate predicate,
                                            std::pmr::memory_resource* memory) {
    Records records(1000, 1.0);
    RandomStream random(source);
    CancelPoll cancel(predicate);
    return interquartile_range(records, kLittleNoise, 1e-6, random, cancel, memory);
  }

  CsprngSource good_source_;
};

TEST_F(IqrFailure, OfRandomnessGivesNoAnswer) {
  FailingSource source;
  EXPECT_THROW(release_from(source, nullptr, std::pmr::new_delete_resource()),
               RandomnessUnavailable);
}

TEST_F(IqrFailure, OfMemoryIsAnException) {
  EXPECT_THROW(release_from(good_source_, nullptr, std::pmr::null_memory_resource()),
               std::bad_alloc);
}

TEST(IqrOfLargeData, StopsWhenCancelled) {
  Records records(100'000);
  CsprngSource source;
  RandomStream random(source);
  CancelPoll cancel([] { return true; });
  EXPECT_THROW(
      interquartile_range(records, 1, 1e-6, random, cancel, std::pmr::new_delete_resource()),
      Cancelled);
}

// --- Parameters ----------------------------------------------------------------------------------

TEST(IqrEpsilon, IsBetweenAMillionthAndAThousand) {
  for (const double epsilon : {1e-6, 1.0, 1000.0}) {
    EXPECT_NO_THROW(release({1, 2, 3}, epsilon, 1e-6)) << epsilon;
  }
  for (const double epsilon : {0.0, -1.0, 9.9e-7, 1000.5, kInfinity, kNaN}) {
    EXPECT_THROW(release({1, 2, 3}, epsilon, 1e-6), ParameterError) << epsilon;
    EXPECT_THROW(release({}, epsilon, 1e-6), ParameterError) << epsilon;
    EXPECT_THROW(iqr_min_records(epsilon, 1e-6), ParameterError) << epsilon;
  }
}

TEST(IqrDelta, IsBetweenTenToMinus300AndAHalf) {
  for (const double delta : {1e-300, 1e-6, 0.5}) {
    EXPECT_NO_THROW(check_iqr_delta(delta));
    EXPECT_NO_THROW(release({1, 2, 3}, 1, delta)) << delta;
  }
  const auto expect_refused = [](double delta, const std::string& printed) {
    const std::string message = "delta must be between 1e-300 and 0.5, got " + printed;
    const std::string hint =
        "Choose a delta well below 1 / (number of rows), for example 1e-06; smaller is more "
        "private.";
    expect_parameter_error(message, hint, [&] { check_iqr_delta(delta); });
    expect_parameter_error(message, hint, [&] { release({}, 1, delta); });
    expect_parameter_error(message, hint, [&] { iqr_min_records(1, delta); });
  };
  expect_refused(0, "0");
  expect_refused(-1e-6, "-1e-06");
  expect_refused(1e-301, "1e-301");
  expect_refused(0.6, "0.6");
  expect_refused(1, "1");
  expect_refused(kInfinity, "Infinity");
  expect_refused(kNaN, "NaN");
}

// --- How many records it takes -------------------------------------------------------------------

TEST(IqrMinRecords, FallsWithEpsilonAndDelta) {
  const std::vector<double> epsilons = {1e-6, 0.01, 0.5, 1, 3, 10, 1000};
  const std::vector<double> deltas = {1e-300, 1e-12, 1e-6, 1e-3, 0.5};
  for (std::size_t i = 0; i < epsilons.size(); ++i) {
    for (std::size_t j = 0; j < deltas.size(); ++j) {
      const std::uint64_t least = iqr_min_records(epsilons[i], deltas[j]);
      EXPECT_GT(least, 3U);
      if (i > 0) {
        EXPECT_LT(least, iqr_min_records(epsilons[i - 1], deltas[j]));
      }
      if (j > 0) {
        EXPECT_LE(least, iqr_min_records(epsilons[i], deltas[j - 1]));
      }
    }
  }
}

TEST(IqrMinRecords, HasTheValuesThatAreDocumented) {
  EXPECT_EQ(iqr_min_records(0.5, 1e-6), 5762U);
  EXPECT_EQ(iqr_min_records(1, 1e-6), 3026U);
  EXPECT_EQ(iqr_min_records(3, 1e-6), 1209U);
  EXPECT_LT(iqr_min_records(1e-6, 1e-300), std::uint64_t{1} << 40);
}

// A standard normal, exponential, uniform or Laplace number.
double draw_from(const std::string& distribution, std::mt19937_64& random) {
  std::exponential_distribution<double> exponential;
  if (distribution == "normal") return std::normal_distribution<double>()(random);
  if (distribution == "exponential") return exponential(random);
  if (distribution == "uniform") return std::uniform_real_distribution<double>()(random);
  return exponential(random) - exponential(random);
}

// Larger simulations saw a failure rate below 1/1000 here. Even with 1/200, more than 25 of 500
// runs fail with probability below 10^-15.
TEST(IqrMinRecords, SufficeForWellBehavedData) {
  constexpr int kRuns = 500;
  std::mt19937_64 random(17);
  const std::size_t n = iqr_min_records(10, 1e-3);
  for (const std::string distribution : {"normal", "exponential", "uniform", "Laplace"}) {
    int failures = 0;
    for (int run = 0; run < kRuns; ++run) {
      const double scale = std::exp(std::uniform_real_distribution<double>(0, 2)(random));
      Records records(n);
      for (double& record : records) record = scale * draw_from(distribution, random);
      failures += !release(records, 10, 1e-3).has_value();
    }
    EXPECT_LE(failures, kRuns / 20) << distribution;
  }
}

// A third of them fail in more than half of the cases; 20 or fewer of 200 have probability below
// 10^-30.
TEST(IqrMinRecords, AreNotFarTooMany) {
  std::mt19937_64 random(19);
  int failures = 0;
  for (int run = 0; run < 200; ++run) {
    Records records(iqr_min_records(1, 1e-6) / 3);
    const double scale = std::exp(std::uniform_real_distribution<double>(0, 2)(random));
    for (double& record : records) record = scale * draw_from("exponential", random);
    failures += !release(records, 1, 1e-6).has_value();
  }
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace dpquantile
