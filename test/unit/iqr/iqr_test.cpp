#include "core/iqr/iqr.hpp"

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
#include <span>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/iqr/log_grid.hpp"
#include "support/case_name.hpp"
#include "support/context_testing.hpp"
#include "support/iqr_reference.hpp"
#include "support/iqr_sampler.hpp"
#include "support/law_testing.hpp"
#include "support/parameter_error.hpp"
#include "support/random_testing.hpp"

// Statistical checks state their false-alarm probability: kLawFalseAlarm, or beside the test.
namespace dpquantile {
namespace {

using test::case_name;
using test::exactly;
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
using test::runs;
using test::sorted;
using test::StagedIqrOutcomes;
using test::TestContext;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

std::optional<double> release(Records records, double epsilon, double delta) {
  return IqrSampler(std::move(records), epsilon, delta).draw();
}

// The noise has a scale of 1/500 record and of 2.05 steps of the grid.
constexpr double kLittleNoise = 1000;

// --- The count -----------------------------------------------------------------------------------

TEST(NoisyCount, FollowsTheLawOfTheProof) {
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

// Outcomes on the grid for the number of records, in 60 ranges that reach three scales of the noise
// to either side.
IqrOutcomes outcomes_around(const Records& ascending, double epsilon) {
  const LogGrid grid(std::max<std::uint64_t>(3, ascending.size()));
  const double iqr = reference_iqr(ascending);
  const std::int64_t centre = iqr == 0 ? 0 : grid.step_of(iqr);
  const std::int64_t width = std::max<std::int64_t>(1, std::lround(204.8 / epsilon));
  return {grid, centre - 30 * width, width, 60};
}

class IqrLaw : public ::testing::TestWithParam<LawCase> {};

TEST_P(IqrLaw, IsTheLawOfTheProof) {
  constexpr int kDraws = 100'000;
  const auto& [name, records, epsilon, delta] = GetParam();
  const Records ascending = sorted(records);
  const IqrOutcomes outcomes = outcomes_around(ascending, epsilon);
  const std::vector<Real> law = outcomes.law(ascending, epsilon, delta);
  IqrSampler sampler(records, epsilon, delta);
  std::vector<std::uint64_t> observed(outcomes.size());
  for (int i = 0; i < kDraws; ++i) ++observed[outcomes.index(sampler.draw_on(outcomes.grid))];
  EXPECT_GT(law_p_value(observed, std::vector<double>(law.begin(), law.end())), kLawFalseAlarm);
}

// The whole mechanism, on the grid of the private count.
class WholeIqrLaw : public ::testing::TestWithParam<LawCase> {};

TEST_P(WholeIqrLaw, IsTheLawOnTheGridOfAPrivateCount) {
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
    Data, WholeIqrLaw,
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
    Data, IqrLaw,
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

// --- The law of several stages -------------------------------------------------------------------

// A hand-made stage that spends `test` and `release` quarters of a unit of epsilon.
IqrStage stage_of(double unit, std::uint64_t test, std::int64_t margin, std::uint64_t release) {
  return {LogGrid::of_unit(unit), {test, 4}, margin, {release, 4}};
}

// The units have no common multiple except 0, so that an answer tells its stage. All budgets and
// margins differ.
const double kFineUnit = std::sqrt(2) / 100;
constexpr double kCoarseUnit = 0.3;
const std::vector<IqrStage> kTwoStages = {stage_of(kFineUnit, 3, 3, 14),
                                          stage_of(kCoarseUnit, 2, 5, 9)};
const std::vector<IqrStage> kThreeStages = {stage_of(kFineUnit, 2, 4, 11),
                                            stage_of(std::sqrt(3) / 30, 5, 2, 6),
                                            stage_of(kCoarseUnit, 3, 1, 20)};
const std::vector<IqrStage> kCoarseFirst = {kTwoStages[1], kTwoStages[0]};

struct StagedCase {
  std::string name;
  std::vector<IqrStage> stages;
  Records records;
  std::vector<std::int64_t> stabilities;  // of the stages
};

void PrintTo(const StagedCase& staged_case, std::ostream* out) {
  *out << staged_case.name;
}

// Outcomes in 30 ranges for each grid, which reach three scales of the noise to either side.
StagedIqrOutcomes staged_outcomes(std::span<const IqrStage> stages, const Records& ascending) {
  std::vector<IqrOutcomes> by_stage;
  for (const IqrStage& stage : stages) {
    const double iqr = reference_iqr(ascending);
    const std::int64_t centre = iqr == 0 ? 0 : stage.grid.step_of(iqr);
    const auto width =
        std::max<std::int64_t>(1, std::lround(204.8 / static_cast<double>(exactly(stage.release))));
    by_stage.push_back({stage.grid, centre - 15 * width, width, 30});
  }
  return StagedIqrOutcomes(by_stage);
}

class StagedIqrLaw : public ::testing::TestWithParam<StagedCase> {};

TEST_P(StagedIqrLaw, IsTheLawOfTheProof) {
  constexpr int kDraws = 50'000;
  const auto& [name, stages, records, stabilities] = GetParam();
  const Records ascending = sorted(records);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ASSERT_EQ(test::reference_stability(ascending, stages[i].grid), stabilities[i]) << i;
  }
  const StagedIqrOutcomes outcomes = staged_outcomes(stages, ascending);
  const std::vector<Real> law = outcomes.law(ascending, stages);
  IqrSampler sampler(records, 1, 0.1);
  std::vector<std::uint64_t> observed(outcomes.size());
  for (int i = 0; i < kDraws; ++i) ++observed[outcomes.index(sampler.draw_by(stages))];
  EXPECT_GT(law_p_value(observed, std::vector<double>(law.begin(), law.end())), kLawFalseAlarm);
}

// Around 1000, so that an answer of 1, which is on all grids, is almost impossible.
const double kWide = LogGrid::of_unit(kCoarseUnit).value(23 * 1024 + 600);
const double kFineEdge = LogGrid::of_unit(kFineUnit).value(480 * 1024);
const double kCoarseEdge = LogGrid::of_unit(kCoarseUnit).value(23 * 1024);

// 40 records. Their upper quartile, the 30th, is the high value until `stable` moves down, then the
// last low one.
Records upper_at(double low_value, double high_value, int stable) {
  return runs({{0, 20}, {low_value, 10 - stable}, {high_value, 10 + stable}});
}

INSTANTIATE_TEST_SUITE_P(
    Data, StagedIqrLaw,
    ::testing::Values(
        StagedCase{"StableOnBoth", kTwoStages, runs({{0, 20}, {kWide, 20}}), {10, 10}},
        StagedCase{"HalfwayStableOnBoth", kTwoStages, runs({{0, 26}, {kWide, 14}}), {4, 4}},
        StagedCase{
            "StableOnTheCoarseOneOnly", kTwoStages, upper_at(kWide, 1.1 * kWide, 1), {1, 10}},
        StagedCase{
            "HalfwayStableOnTheFineOne", kTwoStages, upper_at(kWide, 1.1 * kWide, 3), {3, 10}},
        StagedCase{"StableOnNeither", kTwoStages, upper_at(kWide, 3 * kWide, 1), {1, 1}},
        StagedCase{"UnstableOnBoth", kTwoStages, upper_at(kWide, 3 * kWide, 0), {1, 1}},
        StagedCase{"AllEqual", kTwoStages, Records(20, 3.5), {5, 5}},
        StagedCase{"AlmostAllEqual", kTwoStages, runs({{0, 12}, {kWide, 4}}), {1, 1}},
        StagedCase{"NoRecords", kTwoStages, {}, {1, 1}},
        StagedCase{"OneRecord", kTwoStages, {kWide}, {1, 1}},
        StagedCase{"AtAFineEdge", kTwoStages, runs({{0, 20}, {kFineEdge, 20}}), {10, 10}},
        StagedCase{"BelowAFineEdge",
                   kTwoStages,
                   runs({{0, 20}, {std::nextafter(kFineEdge, 0), 20}}),
                   {10, 10}},
        StagedCase{"AtACoarseEdge", kTwoStages, runs({{0, 20}, {kCoarseEdge, 20}}), {10, 10}},
        StagedCase{"BelowACoarseEdge",
                   kTwoStages,
                   runs({{0, 20}, {std::nextafter(kCoarseEdge, 0), 20}}),
                   {10, 10}},
        StagedCase{"CoarseFirst", kCoarseFirst, upper_at(kWide, 1.1 * kWide, 3), {10, 3}},
        StagedCase{"ThreeStages", kThreeStages, upper_at(kWide, 1.1 * kWide, 2), {2, 2, 10}},
        StagedCase{"Huge", kTwoStages, runs({{-1e308, 20}, {1.5e308, 20}}), {10, 10}},
        StagedCase{"Tiny", kTwoStages, runs({{0, 20}, {kLeast, 20}}), {10, 10}}),
    case_name);

TEST(InterquartileRange, HasNoAnswerWithoutStages) {
  EXPECT_EQ(IqrSampler(Records(100, 7), kLittleNoise, 0.5).draw_by({}), std::nullopt);
}

// --- The law of the whole mechanism for many records ---------------------------------------------

// n records, n divisible by 4, with the upper quartile 1000 above the lower one. `stable` moves up
// make the upper quartile 1080, and 12 moves down make it 0.
Records with_quartiles_1000_apart(std::size_t n, int stable) {
  const auto quarter = static_cast<int>(n / 4);
  return runs({{0, 3 * quarter - 12}, {1000, 11 + stable}, {1080, quarter + 1 - stable}});
}

// The private count decides whether there are two stages or one, and on which grids. It falls on
// both sides of that limit, and the data are only halfway stable on the fine scale.
TEST(InterquartileRange, FollowsTheLawOfThePlanOfAPrivateCount) {
  constexpr int kDraws = 10'000;
  constexpr double kEpsilon = 8;
  constexpr double kDelta = 0.3;
  constexpr std::size_t kRecords = 2520;
  ASSERT_EQ(IqrPlan(kRecords - 40, kEpsilon, kDelta).stages().size(), 1U);
  ASSERT_EQ(IqrPlan(kRecords + 40, kEpsilon, kDelta).stages().size(), 2U);
  for (const int stable : {1, 2}) {
    const Records records = with_quartiles_1000_apart(kRecords, stable);
    const test::WholeIqrOutcomes outcomes(outcomes_around(records, kEpsilon / 2));
    const std::vector<Real> law = outcomes.law(records, kEpsilon, kDelta);
    IqrSampler sampler(records, kEpsilon, kDelta);
    std::vector<std::uint64_t> observed(outcomes.size());
    for (int i = 0; i < kDraws; ++i) ++observed[outcomes.index(sampler.draw())];
    EXPECT_GT(law_p_value(observed, std::vector<double>(law.begin(), law.end())), kLawFalseAlarm)
        << stable;
  }
}

// With this epsilon the private count differs from the number of records with a probability of
// 0.0006, and the tests err with a probability below e^-100, so the grid of an answer is certain.
TEST(InterquartileRange, IsOnTheFineGridIfTheDataAreStableThere) {
  constexpr int kDraws = 200;
  constexpr double kEpsilon = 512;
  constexpr double kDelta = 1e-6;
  constexpr std::size_t kRecords = 4000;
  const IqrPlan plan(kRecords, kEpsilon, kDelta);
  ASSERT_EQ(plan.stages().size(), 2U);
  const auto answers_on = [&](std::size_t stage, const Records& records) {
    const LogGrid& grid = plan.stages()[stage].grid;
    IqrSampler sampler(records, kEpsilon, kDelta);
    int answers = 0;
    for (int i = 0; i < kDraws; ++i) {
      const std::optional<double> answer = sampler.draw();
      answers += answer && grid.value(grid.step_of(*answer)) == *answer;
    }
    return answers;
  };
  const Records stable = runs({{0, 2000}, {1000, 2000}});
  ASSERT_EQ(
      test::reference_stability(with_quartiles_1000_apart(kRecords, 1), plan.stages()[0].grid), 1);
  // More than 10 of 200 have another count with probability below 10^-15.
  EXPECT_GE(answers_on(0, stable), kDraws - 10);
  EXPECT_EQ(answers_on(1, stable), 0);
  EXPECT_EQ(answers_on(0, with_quartiles_1000_apart(kRecords, 1)), 0);
  EXPECT_GE(answers_on(1, with_quartiles_1000_apart(kRecords, 1)), kDraws - 10);
}

// --- Odd records ---------------------------------------------------------------------------------

// threat 22: every answer is positive, finite and normal, or exactly +0. On a given grid it is one
// of the grid's values.
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

TEST(InterquartileRange, IsAPublicValueForOddRecords) {
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

// There is an answer with a probability of 1e-300.
TEST(InterquartileRange, HasNoAnswerForFewRecords) {
  for (const Records& records : {Records{}, Records{1}, Records{1, 2}, Records{kInfinity, 0},
                                 Records{3, 3}, Records{1, 2, 3}}) {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(release(records, 1e-6, 1e-300), std::nullopt);
      EXPECT_EQ(release(records, kLittleNoise, 1e-300), std::nullopt);
    }
  }
}

// No rule depends on the number of records: with a delta of a half, half of the releases have an
// answer. None in 200 has a probability of 10^-60.
TEST(InterquartileRange, SometimesHasAnAnswerForFewRecords) {
  for (const Records& records : {Records{}, Records{1}, Records{1, 2}}) {
    int answers = 0;
    for (int i = 0; i < 200; ++i) answers += release(records, 1e-6, 0.5).has_value();
    EXPECT_GT(answers, 0);
  }
}

// At a distance of 25 the test fails with a probability below e^-10000. A relative 0.02 is more
// than 100 steps, which the noise exceeds with probability e^-48 each time.
TEST(InterquartileRange, IsCloseForStableRecordsWithLittleNoise) {
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

TEST(InterquartileRange, IsExactlyZeroForEqualRecords) {
  for (const double value : {0.0, -0.0, 5.0, -1e308, kLeast, kInfinity, -kInfinity}) {
    EXPECT_EQ(release(Records(100, value), kLittleNoise, 1e-12), 0) << value;
  }
  Records zeros = runs({{-0.0, 50}, {0.0, 50}});
  EXPECT_EQ(release(zeros, kLittleNoise, 1e-12), 0);
}

// 0.01 is more than 120 steps.
TEST(InterquartileRange, SortsTheRecords) {
  std::mt19937_64 random(9);
  std::exponential_distribution<double> exponential;
  Records records(100'000);
  for (double& record : records) record = -exponential(random);
  const std::optional<double> answer = release(records, kLittleNoise, 1e-12);
  ASSERT_TRUE(answer.has_value());
  EXPECT_NEAR(*answer / reference_iqr(sorted(records)), 1, 0.01);
}

// --- Failure -------------------------------------------------------------------------------------

class IqrRelease : public ::testing::Test {
 protected:
  static std::optional<double> release_from(RandomSource& source, CancelPoll::Predicate predicate,
                                            std::pmr::memory_resource* memory) {
    Records records(1000, 1.0);
    return interquartile_range(records, kLittleNoise, 1e-6, TestContext(source, predicate, memory));
  }

  CsprngSource good_source_;
};

TEST_F(IqrRelease, ThrowsWhenTheRandomSourceFails) {
  FailingSource source;
  EXPECT_THROW(release_from(source, nullptr, std::pmr::new_delete_resource()),
               RandomnessUnavailable);
}

TEST_F(IqrRelease, ThrowsWhenMemoryRunsOut) {
  EXPECT_THROW(release_from(good_source_, nullptr, std::pmr::null_memory_resource()),
               std::bad_alloc);
}

TEST(InterquartileRange, StopsWhenCancelled) {
  Records records(100'000);
  CsprngSource source;
  const TestContext cancelled(source, [] { return true; });
  EXPECT_THROW(interquartile_range(records, 1, 1e-6, cancelled), Cancelled);
}

// --- Parameters ----------------------------------------------------------------------------------

TEST(InterquartileRange, AcceptsEpsilonFromAMillionthToAThousand) {
  for (const double epsilon : {1e-6, 1.0, 1000.0}) {
    EXPECT_NO_THROW(release({1, 2, 3}, epsilon, 1e-6)) << epsilon;
  }
  for (const double epsilon : {0.0, -1.0, 9.9e-7, 1000.5, kInfinity, kNaN}) {
    EXPECT_THROW(release({1, 2, 3}, epsilon, 1e-6), ParameterError) << epsilon;
    EXPECT_THROW(release({}, epsilon, 1e-6), ParameterError) << epsilon;
    EXPECT_THROW(iqr_min_records(epsilon, 1e-6), ParameterError) << epsilon;
  }
}

TEST(CheckIqrDelta, AcceptsTenToTheMinus300ToAHalf) {
  for (const double delta : {1e-300, 1e-6, 0.5}) {
    EXPECT_NO_THROW(check_iqr_delta(delta));
    EXPECT_NO_THROW(release({1, 2, 3}, 1, delta)) << delta;
  }
  const auto expect_refused = [](double delta, const std::string& printed) {
    const std::string message = "delta must be between 1e-300 and 0.5, got " + printed;
    const std::string hint =
        "Choose a delta far below 1 / (number of rows), for example 1e-06; smaller is more "
        "private. "
        "Method quantiles takes delta 0.";
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

}  // namespace
}  // namespace dpquantile
