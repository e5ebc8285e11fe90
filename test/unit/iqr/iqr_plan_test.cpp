#include "core/iqr/iqr_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "core/iqr/log_grid.hpp"
#include "support/iqr_reference.hpp"
#include "support/iqr_sampler.hpp"

// Statistical checks state their false-alarm probability.
namespace dpquantile {
namespace {

using test::exactly;
using test::IqrSampler;
using test::LaplaceLaw;
using test::part_epsilon;
using test::Real;
using test::Records;
using test::reference_iqr;
using test::reference_margin;
using test::sorted;

constexpr double kEpsilons[] = {1e-6, 1.1e-6, 0.001, 0.1, 0.3, 0.5, 1.0, 1.5, 3.0, 999.9, 1000.0};
constexpr double kDeltas[] = {1e-300, 1e-30, 1e-6, 1e-3, 0.3, 0.5};

// Counts from the least to the largest, each about a hundredth larger than the one before.
std::vector<std::uint64_t> many_counts() {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t count = 3; count < std::uint64_t{1} << 62; count += count / 100 + 1) {
    counts.push_back(count);
  }
  counts.push_back(std::uint64_t{1} << 62);
  return counts;
}

// The least count with a second stage.
std::uint64_t first_with_two_stages(double epsilon, double delta) {
  std::uint64_t one = 3;
  std::uint64_t two = std::uint64_t{1} << 62;
  while (two - one > 1) {
    const std::uint64_t middle = one + (two - one) / 2;
    (IqrPlan(middle, epsilon, delta).stages().size() == 2 ? two : one) = middle;
  }
  return two;
}

std::vector<std::uint64_t> some_counts(double epsilon, double delta) {
  const std::uint64_t two = first_with_two_stages(epsilon, delta);
  return {3, 4, 1000, two - 1, two, two + 1, 10 * two, 1000 * two, std::uint64_t{1} << 62};
}

template <class Check>
void for_some_plans(Check check) {
  for (const double epsilon : kEpsilons) {
    for (const double delta : kDeltas) {
      for (const std::uint64_t count : some_counts(epsilon, delta)) {
        SCOPED_TRACE(testing::Message() << epsilon << " " << delta << " " << count);
        check(count, epsilon, delta, IqrPlan(count, epsilon, delta).stages());
      }
    }
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// --- The budget ----------------------------------------------------------------------------------

// Sums of multiples of 2^-52 below 1024, so no sum is rounded.
TEST(IqrPlan, SpendsEpsilonWhicheverStageAnswers) {
  constexpr Real kUnit = 0x1p-52L;
  for_some_plans([](std::uint64_t, double epsilon, double, std::span<const IqrStage> stages) {
    Real spent = exactly(iqr_count_epsilon(epsilon));
    for (const IqrStage& stage : stages) {
      spent += exactly(stage.test);
      EXPECT_LE(spent + exactly(stage.release), static_cast<Real>(epsilon));
      EXPECT_GE(spent + exactly(stage.release), static_cast<Real>(epsilon) - 4 * kUnit);
    }
  });
}

TEST(IqrPlan, GivesTheCountASixtyFourth) {
  for (const double epsilon : kEpsilons) {
    const Real count = exactly(iqr_count_epsilon(epsilon));
    EXPECT_LE(count, static_cast<Real>(epsilon) / 64);
    EXPECT_GT(count, static_cast<Real>(epsilon) / 64 - 0x1p-51L);
  }
}

TEST(IqrPlan, DividesTheRestEvenlyBetweenTheTestsAndTheLastRelease) {
  constexpr double kUnit = 0x1p-52;
  for_some_plans([](std::uint64_t, double epsilon, double, std::span<const IqrStage> stages) {
    const double rest = epsilon * 63 / 64;
    const double part = rest / (stages.size() == 2 ? 3 : 2);
    for (const IqrStage& stage : stages) {
      EXPECT_NEAR(static_cast<double>(exactly(stage.test)), part, 4 * kUnit * (1 + epsilon));
    }
    EXPECT_NEAR(static_cast<double>(exactly(stages.back().release)), part,
                4 * kUnit * (1 + epsilon));
  });
}

// Two stages have half of delta each. The slack for rounding may make a margin larger by one where
// the smaller one barely keeps delta.
TEST(IqrPlan, HasTheLeastMarginsThatKeepDeltaTogether) {
  for_some_plans([](std::uint64_t, double, double delta, std::span<const IqrStage> stages) {
    const Real share = static_cast<Real>(delta) / static_cast<Real>(stages.size());
    Real sum = 0;
    for (const IqrStage& stage : stages) {
      const LaplaceLaw noise(exactly(stage.test));
      ASSERT_GE(stage.margin, 0);
      EXPECT_LE(noise.at_least(stage.margin + 1), share);
      if (stage.margin > 0) {
        EXPECT_GT(noise.at_least(stage.margin), share * (1 - 1e-11L));
      }
      sum += noise.at_least(stage.margin + 1);
    }
    EXPECT_LE(sum, static_cast<Real>(delta));
  });
}

// --- The stages ----------------------------------------------------------------------------------

TEST(IqrPlan, HasOnlyThePapersScaleForFewRecords) {
  for (const double epsilon : {0x1p-10, 0.125, 1.0, 3.0, 64.0}) {
    const IqrPlan plan(3, epsilon, 1e-6);
    ASSERT_EQ(plan.stages().size(), 1U);
    const IqrStage& stage = plan.stages()[0];
    EXPECT_EQ(exactly(iqr_count_epsilon(epsilon)), test::count_epsilon(epsilon));
    EXPECT_EQ(exactly(stage.test), part_epsilon(epsilon));
    EXPECT_EQ(exactly(stage.release), part_epsilon(epsilon));
    EXPECT_EQ(stage.margin, reference_margin(part_epsilon(epsilon), 1e-6));
    EXPECT_EQ(stage.grid.unit(), LogGrid(std::uint64_t{3}).unit());
  }
}

TEST(IqrPlan, EndsOnThePapersScale) {
  for_some_plans([](std::uint64_t count, double, double, std::span<const IqrStage> stages) {
    EXPECT_EQ(stages.back().grid.unit(), LogGrid(count).unit());
  });
}

TEST(IqrPlan, HasAFinerFirstStageFromAboutTenTimesTheLeastRecordsOn) {
  for (const double epsilon : kEpsilons) {
    for (const double delta : kDeltas) {
      const auto least = static_cast<double>(iqr_min_records(epsilon, delta));
      const auto two = static_cast<double>(first_with_two_stages(epsilon, delta));
      EXPECT_GT(two, 7 * least) << epsilon << " " << delta;
      EXPECT_LT(two, 14 * least) << epsilon << " " << delta;
    }
  }
}

TEST(IqrPlan, NeverGoesBackToOneStageForMoreRecords) {
  const std::vector<std::uint64_t> counts = many_counts();
  for (const double epsilon : {1e-6, 0.1, 1.0, 1000.0}) {
    for (const double delta : {1e-300, 1e-6, 0.5}) {
      const std::uint64_t two = first_with_two_stages(epsilon, delta);
      for (const std::uint64_t count : counts) {
        ASSERT_EQ(IqrPlan(count, epsilon, delta).stages().size(), count < two ? 1U : 2U) << count;
      }
      for (std::uint64_t count = two - 200; count < two + 200; ++count) {
        ASSERT_EQ(IqrPlan(count, epsilon, delta).stages().size(), count < two ? 1U : 2U) << count;
      }
    }
  }
}

TEST(IqrPlan, HasAFirstStageAtLeastTwiceAsFineAsThePapersButNotTooFine) {
  for (const double epsilon : {1e-6, 0.1, 1.0, 1000.0}) {
    double before = 1;
    for (const std::uint64_t count : many_counts()) {
      const IqrPlan plan(count, epsilon, 1e-6);
      const double unit = plan.stages().front().grid.unit();
      ASSERT_LE(unit, before) << count;
      ASSERT_GE(unit, LogGrid::kLeastUnit) << count;
      if (plan.stages().size() == 2) {
        ASSERT_LE(unit, LogGrid(count).unit() / 2) << count;
      }
      before = unit;
    }
    EXPECT_EQ(before, LogGrid::kLeastUnit);
  }
}

// The reasoning of iqr_min_records: replacing a records moves a well-behaved interquartile range
// out of its bin, where a - 2 sqrt(a + s^2) = 1 + T for the number of records needed.
double spare_distance(const IqrStage& stage, double records) {
  const double stretch = std::exp(7.0 / 16 * stage.grid.unit());
  const double a = records * (1 - std::pow(3, 1 - stretch)) / 4;
  const double s = std::sqrt(2) / static_cast<double>(exactly(stage.test));
  return (a - 2 * std::sqrt(a + s * s)) / static_cast<double>(1 + stage.margin);
}

TEST(IqrPlan, HasAFirstStageThatNeedsAThirdOfTheRecords) {
  for_some_plans([](std::uint64_t count, double, double, std::span<const IqrStage> stages) {
    if (stages.size() == 1) return;
    if (stages[0].grid.unit() == LogGrid::kLeastUnit) return;
    EXPECT_NEAR(spare_distance(stages[0], static_cast<double>(count) / 3), 1, 1e-6);
  });
}

// The unit is proportional to 1/count except where the scale is not linear.
TEST(IqrPlan, HasAFirstUnitThatFallsLikeOneOverTheCount) {
  for (const double epsilon : {0.1, 1.0, 1000.0}) {
    for (std::uint64_t count = first_with_two_stages(epsilon, 1e-6); count < 100'000'000;
         count *= 2) {
      const double unit = IqrPlan(count, epsilon, 1e-6).stages()[0].grid.unit();
      const double next = IqrPlan(2 * count, epsilon, 1e-6).stages()[0].grid.unit();
      if (next == LogGrid::kLeastUnit) break;
      EXPECT_NEAR(next / unit, 0.5, 0.005) << count;
    }
  }
}

// --- The test's margin ---------------------------------------------------------------------------

// The margin of the only stage for few records.
std::int64_t margin_of(double epsilon, double delta) {
  return IqrPlan(3, epsilon, delta).stages()[0].margin;
}

TEST(IqrTestMargin, IsTheLeastThatNoiseExceedsWithProbabilityDelta) {
  for (const double epsilon : {0x1p-10, 0.125, 0.5, 1.0, 3.0, 10.0, 100.0}) {
    for (const double delta : {0.5, 0.4, 0.1, 0.01, 1e-6, 1e-12, 1e-100, 1e-300}) {
      EXPECT_EQ(margin_of(epsilon, delta), reference_margin(part_epsilon(epsilon), delta))
          << epsilon << " " << delta;
    }
  }
}

// Rounding could go wrong at the deltas where the margin changes, and at the doubles around them.
TEST(IqrTestMargin, KeepsDeltaToTheLastBit) {
  for (const double epsilon : {0.125, 1.0, 3.0}) {
    const LaplaceLaw noise(part_epsilon(epsilon));
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

TEST(IqrMinRecords, HasTheDocumentedValues) {
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
  const std::size_t n = as_size(iqr_min_records(10, 1e-3));
  for (const std::string distribution : {"normal", "exponential", "uniform", "Laplace"}) {
    int failures = 0;
    for (int run = 0; run < kRuns; ++run) {
      const double scale = std::exp(std::uniform_real_distribution<double>(0, 2)(random));
      Records records(n);
      for (double& record : records) record = scale * draw_from(distribution, random);
      failures += !IqrSampler(records, 10, 1e-3).draw().has_value();
    }
    EXPECT_LE(failures, kRuns / 20) << distribution;
  }
}

// A third of the records fails in more than half of the cases; 20 or fewer failures of 200 have a
// probability below 10^-30.
TEST(IqrMinRecords, AreNotFarTooMany) {
  std::mt19937_64 random(19);
  int failures = 0;
  for (int run = 0; run < 200; ++run) {
    Records records(as_size(iqr_min_records(1, 1e-6) / 3));
    const double scale = std::exp(std::uniform_real_distribution<double>(0, 2)(random));
    for (double& record : records) record = scale * draw_from("exponential", random);
    failures += !IqrSampler(records, 1, 1e-6).draw().has_value();
  }
  EXPECT_GT(failures, 20);
}

// --- The error -----------------------------------------------------------------------------------

constexpr double kSomeRecords[] = {1, 3, 1000, 10'000, 100'000, 1'000'000, 0x1p40, kInfinity};

// The expected error, infinite for too few records.
double expected_error(double epsilon, double delta, double records) {
  return iqr_expected_error(epsilon, delta, records).value_or(kInfinity);
}

TEST(IqrExpectedError, FallsWithEpsilonDeltaAndRecords) {
  const std::vector<double> epsilons = {1e-6, 0.01, 0.5, 1, 3, 10, 1000};
  const std::vector<double> deltas = {1e-300, 1e-12, 1e-6, 1e-3, 0.5};
  for (std::size_t i = 0; i < epsilons.size(); ++i) {
    for (std::size_t j = 0; j < deltas.size(); ++j) {
      double before = kInfinity;
      for (const double records : kSomeRecords) {
        const double error = expected_error(epsilons[i], deltas[j], records);
        EXPECT_GT(error, 0);
        EXPECT_LE(error, before);
        before = error;
        if (i > 0) {
          EXPECT_LE(error, expected_error(epsilons[i - 1], deltas[j], records));
        }
        if (j > 0) {
          EXPECT_LE(error, expected_error(epsilons[i], deltas[j - 1], records));
        }
      }
    }
  }
}

TEST(IqrExpectedError, IsTenTimesSmallerForTenTimesAsManyRecords) {
  for (const double epsilon : {0.5, 1.0, 3.0}) {
    const auto records = static_cast<double>(30 * iqr_min_records(epsilon, 1e-6));
    const double ratio =
        expected_error(epsilon, 1e-6, records) / expected_error(epsilon, 1e-6, 10 * records);
    EXPECT_GT(ratio, 9.5) << epsilon;
    EXPECT_LT(ratio, 11.5) << epsilon;
  }
}

TEST(IqrExpectedError, HasNoValueBelowTheLeastNumberOfRecords) {
  const auto least = static_cast<double>(iqr_min_records(1, 1e-6));
  EXPECT_FALSE(iqr_expected_error(1, 1e-6, 1).has_value());
  EXPECT_FALSE(iqr_expected_error(1, 1e-6, least - 1).has_value());
  EXPECT_TRUE(iqr_expected_error(1, 1e-6, least).has_value());
}

TEST(IqrExpectedError, RefusesBadParameters) {
  EXPECT_THROW(iqr_expected_error(0, 1e-6, 1000), ParameterError);
  EXPECT_THROW(iqr_expected_error(1001, 1e-6, 1000), ParameterError);
  EXPECT_THROW(iqr_expected_error(1, 0, 1000), ParameterError);
  EXPECT_THROW(iqr_expected_error(1, 1, 1000), ParameterError);
  for (const double records : {0.0, 0.5, -1.0, kNaN, -kInfinity}) {
    EXPECT_THROW(iqr_expected_error(1, 1e-6, records), ParameterError) << records;
  }
}

// How many of 1000 answers for normal data have a larger error than expected.
int answers_with_a_larger_error(std::size_t n, double epsilon, double delta) {
  const double factor = 1 + expected_error(epsilon, delta, static_cast<double>(n));
  std::mt19937_64 random(23);
  int larger = 0;
  for (int data = 0; data < 100; ++data) {
    Records records(n);
    const double scale = std::exp(std::uniform_real_distribution<double>(0, 2)(random));
    for (double& record : records) record = scale * draw_from("normal", random);
    const double iqr = reference_iqr(sorted(records));
    IqrSampler sampler(records, epsilon, delta);
    for (int release = 0; release < 10; ++release) {
      const std::optional<double> answer = sampler.draw();
      larger += !answer || *answer > factor * iqr || *answer < iqr / factor;
    }
  }
  return larger;
}

// Covers one stage (where a few releases have no answer), the first number of records that may have
// two, and two for certain. If an answer has a larger error with probability 1/20, more than 90 of
// 1000 do with probability below 10^-7. If it has one with probability 1/25, fewer than 10 do with
// probability below 10^-7.
TEST(IqrExpectedError, HoldsForNineteenOfTwentyAnswers) {
  constexpr double kEpsilon = 8;
  constexpr double kDelta = 0.01;
  const std::uint64_t two = first_with_two_stages(kEpsilon, kDelta);
  for (const std::uint64_t n : {two / 4, two - 100, two, two + 64, 3 * two}) {
    const int larger = answers_with_a_larger_error(as_size(n), kEpsilon, kDelta);
    EXPECT_LE(larger, 90) << n;
    EXPECT_GE(larger, n == two - 100 || n == two || n == two + 64 ? 0 : 10) << n;
  }
}

// A release has no answer or a worse one with a probability of 1/1000 (0.0001 by the law of the
// noise). More than 3 of 40 do with probability below 10^-7.
TEST(InterquartileRange, IsRightWithinAQuarterForManyNormalRecords) {
  std::mt19937_64 random(29);
  int bad = 0;
  for (int data = 0; data < 4; ++data) {
    Records records(100'000);
    for (double& record : records) record = 5 + 2 * draw_from("normal", random);
    IqrSampler sampler(records, 1, 1e-6);
    for (int release = 0; release < 10; ++release) {
      const std::optional<double> answer = sampler.draw();
      bad += !answer || std::abs(*answer / (2 * 1.3489795) - 1) > 0.25;
    }
  }
  EXPECT_LE(bad, 3);
}

// Theorem 11b, with plans of one and of two stages.
TEST(IqrCost, CoversTheCountAndEachPlan) {
  for (const double epsilon : {1e-6, 0.1, 1.0, 10.0, 1000.0}) {
    const PrivacyCost cost = iqr_cost(epsilon, 1e-6);
    EXPECT_EQ(*cost.epsilon, epsilon);
    EXPECT_EQ(cost.delta, 1e-6);
    const Rational count = iqr_count_epsilon(epsilon);
    const double of_count =
        rho_of_pure(static_cast<double>(count.numerator) / static_cast<double>(count.denominator));
    for (const std::uint64_t records : {std::uint64_t{3}, std::uint64_t{1} << 50}) {
      const IqrPlan plan(records, epsilon, 1e-6);
      const double all = of_count + rho_of_stages(plan.stages());
      EXPECT_GE(*cost.rho, std::min(all, rho_of_pure(epsilon)));
    }
    EXPECT_LE(*cost.rho, rho_of_pure(epsilon));
  }
  // Two stages, of which the first spends a third on its test: 63/64 of epsilon, and (1/9 + 4/9) /
  // 2 of its square, beside that of the count.
  EXPECT_EQ(IqrPlan(std::uint64_t{1} << 50, 1, 1e-6).stages().size(), 2);
  const double left = 63.0 / 64 * 0.001;
  EXPECT_NEAR(*iqr_cost(0.001, 1e-6).rho, left * left * 5 / 18 + 0.001 / 64 * (0.001 / 64) / 2,
              1e-10);
}

// Lemma 10b: the stage that costs most with all tests before it.
TEST(RhoOfStages, IsThatOfTheDearestStage) {
  const auto stage = [](double test, double release) {
    const auto quanta = [](double epsilon) {
      return Rational{static_cast<std::uint64_t>(std::ldexp(epsilon, 52)), std::uint64_t{1} << 52};
    };
    return IqrStage{LogGrid(LogGrid::kMinCount), quanta(test), 10, quanta(release)};
  };
  const double released = rho_of_laplace(0.5, LogGrid::kStepsPerUnit);
  EXPECT_LT(released, rho_of_pure(0.5));
  const IqrStage early[] = {stage(0.25, 0.5), stage(0.125, 0.125)};
  EXPECT_EQ(rho_of_stages(early), rho_of_pure(0.25) + released);
  const IqrStage late[] = {stage(0.25, 0.125), stage(0.125, 0.5)};
  EXPECT_EQ(rho_of_stages(late), rho_of_pure(0.25) + rho_of_pure(0.125) + released);
}

}  // namespace
}  // namespace dpquantile
