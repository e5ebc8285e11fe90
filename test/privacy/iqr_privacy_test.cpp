#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/iqr/iqr.hpp"
#include "core/iqr/log_grid.hpp"
#include "core/privacy/random.hpp"
#include "support/case_name.hpp"
#include "support/iqr_reference.hpp"
#include "support/iqr_sampler.hpp"
#include "support/privacy_loss.hpp"

// Tries to refute that interquartile_range is (epsilon, delta)-differentially private for adding,
// removing or replacing one record, in two ways:
//
// - The exact law of small cases, computed by an independent reference, must keep epsilon and
//   delta, and the mechanism's releases must follow that law.
// - In releases alone no event may be more likely than e^epsilon and delta allow.
//
// The tests do this for the answer on a given grid, for the count that fixes the grid, and for the
// whole mechanism.
namespace dpquantile {
namespace {

using test::case_name;
using test::certain_delta;
using test::count_epsilon;
using test::count_probability;
using test::exact_delta;
using test::exact_loss;
using test::exactly;
using test::fit_p_value;
using test::IqrOutcomes;
using test::IqrSampler;
using test::kFalseAlarm;
using test::kLargestRecord;
using test::LaplaceLaw;
using test::likely_counts;
using test::multisets;
using test::part_epsilon;
using test::Real;
using test::Records;
using test::records_apart;
using test::reference_iqr;
using test::reference_margin;
using test::reference_stability;
using test::runs;
using test::Sample;
using test::StagedIqrOutcomes;
using test::take_sample;
using test::WholeIqrOutcomes;
using test::with;

using Law = std::vector<Real>;

constexpr double kEpsilons[] = {0.5, 1, 3};
constexpr double kDeltas[] = {0.3, 0.05, 1e-3, 1e-9};
constexpr Real kRounding = 1e-12L;

// The epsilon of an answer on a given grid: the sum of what its test and its release spend.
Real grid_epsilon(double epsilon) {
  return 2 * part_epsilon(epsilon);
}

// A dataset, and the same with one record replaced or added. Both ascend. `grid` is the grid of
// both in the tests on a given grid.
struct Neighbours {
  std::string name;
  Records data;
  Records neighbour;

  LogGrid grid() const { return LogGrid(std::max<std::uint64_t>(3, data.size())); }
};

void PrintTo(const Neighbours& neighbours, std::ostream* out) {
  *out << neighbours.name;
}

// Two datasets of 4 * quarter records. Their interquartile ranges, 1 and `wide`, are in the same
// bin [0, 1) of a discretisation. The second needs one more replacement to leave this bin.
Neighbours across_a_bin(std::string name, int stability, double wide) {
  const int quarter = stability + 3;
  const int low = 3 * quarter - stability;
  return {std::move(name), runs({{0, low}, {1, stability}, {wide, quarter}}),
          runs({{0, low - 1}, {1, stability}, {wide, quarter + 1}})};
}

double value_of(std::uint64_t count, std::int64_t step) {
  return LogGrid(count).value(step);
}

Neighbours one_more(std::string name, const Records& data, double added) {
  return {std::move(name), data, with(data, added)};
}

// For every residue of n modulo 4, and for n near 0 .. 3, where n may be handled specially.
std::vector<Neighbours> pairs_of_one_more() {
  const double near = value_of(40, 500);
  std::vector<Neighbours> pairs = {
      one_more("NoneAndOne", {}, 5),
      one_more("OneAndTwo", {5}, 7),
      one_more("OneAndTwoEqual", {5}, 5),
      one_more("TwoAndThree", {0, 1}, 2),
      one_more("ThreeAndFour", {0, 1, 2}, -5),
      one_more("FarApartByOneMore", runs({{0, 29}, {1, 1}, {1000, 10}}), 1000),
      one_more("ZeroAndPositiveByOneMore", runs({{0, 30}, {1, 10}}), 1),
      one_more("DeepInZeroByOneMore", Records(40, 7), 7),
  };
  for (int n = 40; n < 44; ++n) {
    const std::string suffix = std::to_string(n);
    const Records stable = runs({{0, 26}, {1, n - 36}, {near, 10}});
    pairs.push_back(one_more("AWiderOneTo" + suffix, stable, near));
    pairs.push_back(one_more("ALowerOneTo" + suffix, stable, -1));
    pairs.push_back(one_more("AMiddleOneTo" + suffix, stable, 0.5));
  }
  return pairs;
}

std::vector<Neighbours> pairs_of_one_replaced() {
  const double below_one = std::nextafter(1.0, 0.0);
  const double half = value_of(40, 512);
  const double below_half = std::nextafter(half, 0.0);
  return {
      {"ThreeRecords", {0, 1, 2}, {0, 1, 9}},
      {"FourRecords", {0, 1, 2, 3}, {0, 2, 2, 3}},
      {"FarApart", runs({{0, 29}, {1, 1}, {1000, 10}}), runs({{0, 29}, {1000, 11}})},
      {"BothSidesOfAWholeEdge", runs({{0, 20}, {below_one, 10}, {1, 10}}),
       runs({{0, 19}, {below_one, 10}, {1, 11}})},
      {"JumpOverAWholeEdge", runs({{0, 20}, {below_one, 10}, {1, 10}}),
       runs({{0, 20}, {below_one, 9}, {1, 11}})},
      {"JumpOverAHalfEdge", runs({{0, 20}, {below_half, 10}, {half, 10}}),
       runs({{0, 20}, {below_half, 9}, {half, 11}})},
      {"MiddleOfABin", runs({{0, 20}, {1.01, 10}, {1.1, 10}}),
       runs({{0, 20}, {1.01, 9}, {1.1, 11}})},
      {"AlmostAWholeBin", runs({{0, 20}, {1, 10}, {value_of(40, 1023), 10}}),
       runs({{0, 20}, {1, 9}, {value_of(40, 1023), 11}})},
      {"AWholeBin", runs({{0, 20}, {1, 10}, {value_of(40, 1024), 10}}),
       runs({{0, 20}, {1, 9}, {value_of(40, 1024), 11}})},
      across_a_bin("AcrossABinAtThree", 3, value_of(24, 1023)),
      across_a_bin("AcrossABinAtEight", 8, value_of(44, 1023)),
      {"ZeroAndPositive", runs({{0, 30}, {1, 10}}), runs({{0, 29}, {1, 11}})},
      {"ZeroAndLeast", runs({{0, 30}, {std::numeric_limits<double>::denorm_min(), 10}}),
       runs({{0, 29}, {std::numeric_limits<double>::denorm_min(), 11}})},
      {"NearlyZero", runs({{0, 28}, {1, 12}}), runs({{0, 27}, {1, 13}})},
      {"DeepInZero", Records(40, 7), runs({{7, 39}, {1e9, 1}})},
      {"AlmostUnstableZero", runs({{0, 32}, {1, 8}}), runs({{0, 31}, {1, 9}})},
      {"Huge", runs({{-kLargestRecord, 20}, {kLargestRecord, 20}}),
       runs({{-kLargestRecord, 20}, {0, 1}, {kLargestRecord, 19}})},
      {"Unlike", runs({{0, 10}, {1, 10}, {2, 10}, {3, 10}}),
       runs({{0, 9}, {1, 10}, {2, 10}, {3, 10}, {kLargestRecord, 1}})},
  };
}

std::vector<Neighbours> all_pairs() {
  std::vector<Neighbours> pairs = pairs_of_one_replaced();
  for (const Neighbours& pair : pairs_of_one_more()) pairs.push_back(pair);
  return pairs;
}

// Ranges of `width` steps that span both datasets' steps and `scales` scales of the noise.
IqrOutcomes outcomes_on(const LogGrid& grid, const Neighbours& neighbours, double epsilon,
                        std::int64_t width, double scales) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = -first;
  for (const Records* records : {&neighbours.data, &neighbours.neighbour}) {
    const double iqr = reference_iqr(*records);
    if (iqr == 0) continue;
    first = std::min(first, grid.step_of(iqr));
    last = std::max(last, grid.step_of(iqr));
  }
  if (first > last) first = last = 0;
  const auto reach = static_cast<std::int64_t>(scales * 2048 / epsilon);
  first -= reach;
  return {grid, first, width, (last + reach - first) / width + 1};
}

IqrOutcomes outcomes_of(const Neighbours& neighbours, double epsilon, std::int64_t width,
                        double scales) {
  return outcomes_on(neighbours.grid(), neighbours, epsilon, width, scales);
}

Sample sample_of(const Records& records, double epsilon, double delta, const IqrOutcomes& outcomes,
                 int draws) {
  IqrSampler sampler(records, epsilon, delta);
  return take_sample(outcomes.size(), draws,
                     [&] { return outcomes.index(sampler.draw_on(outcomes.grid)); });
}

Sample sample_of(const Records& records, double epsilon, double delta,
                 const WholeIqrOutcomes& outcomes, int draws) {
  IqrSampler sampler(records, epsilon, delta);
  return take_sample(outcomes.size(), draws, [&] { return outcomes.index(sampler.draw()); });
}

// --- The exact law on a given grid ---------------------------------------------------------------

class ExactIqrLaw : public ::testing::TestWithParam<Neighbours> {};

TEST_P(ExactIqrLaw, KeepsEpsilonAndDelta) {
  const Neighbours& pair = GetParam();
  for (const double epsilon : kEpsilons) {
    const IqrOutcomes outcomes = outcomes_of(pair, epsilon, 1, 8);
    for (const double delta : kDeltas) {
      const Law law = outcomes.law(pair.data, epsilon, delta);
      const Law neighbour = outcomes.law(pair.neighbour, epsilon, delta);
      EXPECT_LE(exact_delta(law, neighbour, grid_epsilon(epsilon)), delta + kRounding * delta)
          << epsilon;
    }
  }
}

// If both datasets are stable, the law keeps epsilon alone.
TEST_P(ExactIqrLaw, NeedsDeltaOnlyForUnstableData) {
  const Neighbours& pair = GetParam();
  if (reference_stability(pair.data, pair.grid()) == 1) return;
  if (reference_stability(pair.neighbour, pair.grid()) == 1) return;
  for (const double epsilon : kEpsilons) {
    const IqrOutcomes outcomes = outcomes_of(pair, epsilon, 1, 8);
    const Law law = outcomes.law(pair.data, epsilon, 1e-3);
    const Law neighbour = outcomes.law(pair.neighbour, epsilon, 1e-3);
    EXPECT_LE(exact_loss(law, neighbour), grid_epsilon(epsilon) + kRounding);
  }
}

INSTANTIATE_TEST_SUITE_P(AllPairs, ExactIqrLaw, ::testing::ValuesIn(all_pairs()), case_name);

TEST(ExactIqrLawOfAllSmallData, KeepsEpsilonAndDelta) {
  const Records values = {-kLargestRecord, 0, 1, 1.3, 2, kLargestRecord};
  std::vector<Records> all;
  for (std::size_t n = 0; n <= 5; ++n) {
    for (const Records& data : multisets(values, n)) all.push_back(data);
  }
  const IqrOutcomes outcomes{LogGrid(std::uint64_t{6}), -20 * 1024, 256, 200};
  for (const double epsilon : {1.0, 3.0}) {
    std::vector<Law> laws;
    for (const Records& data : all) laws.push_back(outcomes.law(data, epsilon, 0.1));
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (records_apart(all[i], all[j]) != 1) continue;
        ASSERT_LE(exact_delta(laws[i], laws[j], grid_epsilon(epsilon)), 0.1L + kRounding);
      }
    }
  }
}

// The worst case spends both parts of epsilon: a smaller claim would be wrong, and a law with half
// the noise is refuted.
TEST(ExactIqrLawOfTheWorstCase, LosesAlmostAllOfEpsilon) {
  for (const double epsilon : kEpsilons) {
    const Neighbours pair = across_a_bin("", 3, value_of(24, 1023));
    const IqrOutcomes outcomes = outcomes_of(pair, epsilon, 1, 5);
    const auto loss = [&](double spent) {
      return exact_loss(outcomes.law(pair.data, spent, 1e-9),
                        outcomes.law(pair.neighbour, spent, 1e-9));
    };
    EXPECT_LE(loss(epsilon), grid_epsilon(epsilon) + kRounding);
    EXPECT_GT(loss(epsilon), 0.999L * grid_epsilon(epsilon));
    EXPECT_GT(loss(2 * epsilon), 1.998L * grid_epsilon(epsilon));
  }
}

// --- Two stages ----------------------------------------------------------------------------------

// The stages spend what a plan for many records spends. They use a fine grid and the grid of the
// pairs above.
const LogGrid kFine = LogGrid::of_unit(0.0141421356);
const LogGrid kCoarse(40);

std::vector<IqrStage> two_stages(double epsilon, double delta) {
  const IqrPlan plan(std::uint64_t{1} << 50, epsilon, delta);
  std::vector<IqrStage> stages(plan.stages().begin(), plan.stages().end());
  stages.at(0).grid = kFine;
  stages.at(1).grid = kCoarse;
  return stages;
}

double fine_value(std::int64_t step) {
  return kFine.value(step);
}

// The sampled interquartile ranges are about 1000, because the value 1 is on both grids.
const double kHigh = fine_value(489 * 1024);
const double kHighInItsBin = fine_value(489 * 1024 + 1023);
const double kHighInTheNext = fine_value(490 * 1024);

// 40 records. In the first dataset `stability` replacements move the upper quartile from kHigh to
// `wide`, or to 0. The neighbour needs one more replacement to reach `wide`.
Neighbours up_to(std::string name, int stability, double wide) {
  return {std::move(name), runs({{0, 20}, {kHigh, 9 + stability}, {wide, 11 - stability}}),
          runs({{0, 20}, {kHigh, 10 + stability}, {wide, 10 - stability}})};
}

std::vector<Neighbours> pairs_of_two_scales() {
  const double below = std::nextafter(kHigh, 0);
  std::vector<Neighbours> pairs = {
      {"JumpOverAFineEdge", runs({{0, 20}, {below, 10}, {kHigh, 10}}),
       runs({{0, 20}, {below, 9}, {kHigh, 11}})},
      {"AcrossAFineBin", runs({{0, 20}, {kHigh, 10}, {kHighInItsBin, 10}}),
       runs({{0, 20}, {kHigh, 9}, {kHighInItsBin, 11}})},
      {"AcrossAWholeFineUnit", runs({{0, 20}, {kHigh, 10}, {kHighInTheNext, 10}}),
       runs({{0, 20}, {kHigh, 9}, {kHighInTheNext, 11}})},
      {"FarOnTheFineScale", runs({{0, 20}, {kHigh, 10}, {1.1 * kHigh, 10}}),
       runs({{0, 20}, {kHigh, 9}, {1.1 * kHigh, 11}})},
      across_a_bin("AcrossABinAtEight", 8, fine_value(1023)),
      across_a_bin("AcrossABinAtThree", 3, fine_value(1023)),
  };
  for (int stability = 1; stability < 10; ++stability) {
    const std::string suffix = std::to_string(stability);
    pairs.push_back(up_to("UpByAFineUnitAt" + suffix, stability, kHighInTheNext));
    pairs.push_back(up_to("UpByATenthAt" + suffix, stability, 1.1 * kHigh));
    pairs.push_back(up_to("UpByMuchAt" + suffix, stability, 3 * kHigh));
    const Records data = runs({{0, 20}, {kHigh, 9 + stability}, {1.1 * kHigh, 11 - stability}});
    pairs.push_back(one_more("AHighOneMoreAt" + suffix, data, 1.1 * kHigh));
    pairs.push_back(one_more("ALowOneMoreAt" + suffix, data, -1));
  }
  return pairs;
}

std::vector<Neighbours> all_pairs_for_two_stages() {
  std::vector<Neighbours> pairs = pairs_of_two_scales();
  for (Neighbours pair : all_pairs()) {
    pair.name += "Again";
    pairs.push_back(pair);
  }
  return pairs;
}

// Single steps where a stable release may be, or ranges of steps if the two datasets' steps are far
// apart.
StagedIqrOutcomes between_both_steps(const Neighbours& pair) {
  std::vector<IqrOutcomes> by_stage;
  for (const LogGrid& grid : {kFine, kCoarse}) {
    const double one = reference_iqr(pair.data);
    const double other = reference_iqr(pair.neighbour);
    const auto step_of = [&](double iqr) { return iqr == 0 ? 0 : grid.step_of(iqr); };
    const auto [first, last] = std::minmax({step_of(one), step_of(other)});
    const std::int64_t width = last - first < 2048 ? 1 : (last - first) / 1024;
    by_stage.push_back({grid, first, width, (last - first) / width + 1});
  }
  return StagedIqrOutcomes(by_stage);
}

class ExactTwoStageIqrLaw : public ::testing::TestWithParam<Neighbours> {};

TEST_P(ExactTwoStageIqrLaw, KeepsEpsilonAndDelta) {
  const Neighbours& pair = GetParam();
  const StagedIqrOutcomes outcomes = between_both_steps(pair);
  for (const double epsilon : kEpsilons) {
    for (const double delta : kDeltas) {
      const std::vector<IqrStage> stages = two_stages(epsilon, delta);
      const Law law = outcomes.law(pair.data, stages);
      const Law neighbour = outcomes.law(pair.neighbour, stages);
      EXPECT_LE(exact_delta(law, neighbour, grid_epsilon(epsilon)), delta + kRounding * delta)
          << epsilon;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllPairs, ExactTwoStageIqrLaw,
                         ::testing::ValuesIn(all_pairs_for_two_stages()), case_name);

// Some pairs are at both ends of a bin of a stage's grid, and that stage answers with a probability
// of about one half.
Real worst_two_stage_delta(double epsilon, const std::vector<IqrStage>& stages) {
  std::vector<Neighbours> pairs = pairs_of_two_scales();
  for (const IqrStage& stage : stages) {
    pairs.push_back(across_a_bin("", static_cast<int>(stage.margin) + 1, stage.grid.value(1023)));
  }
  Real worst = 0;
  for (const Neighbours& pair : pairs) {
    const StagedIqrOutcomes outcomes = between_both_steps(pair);
    const Law law = outcomes.law(pair.data, stages);
    const Law neighbour = outcomes.law(pair.neighbour, stages);
    worst = std::max(worst, exact_delta(law, neighbour, grid_epsilon(epsilon)));
  }
  return worst;
}

Rational twice(Rational value) {
  return {2 * value.numerator, value.denominator};
}

TEST(TwoStageIqrPrivacyCheck, RefutesStagesThatSpendTwiceTheirBudget) {
  constexpr double kDelta = 1e-3;
  for (const double epsilon : kEpsilons) {
    for (const std::size_t mutated : {0U, 1U}) {
      std::vector<IqrStage> stages = two_stages(epsilon, kDelta);
      EXPECT_LE(worst_two_stage_delta(epsilon, stages), kDelta);
      stages[mutated].test = twice(stages[mutated].test);
      stages[mutated].release = twice(stages[mutated].release);
      stages[mutated].margin = reference_margin(exactly(stages[mutated].test), kDelta / 2);
      EXPECT_GT(worst_two_stage_delta(epsilon, stages), kDelta) << epsilon << " " << mutated;
    }
  }
}

// The data are unstable on both scales, so each stage answers only with its part of delta.
TEST(TwoStageIqrOfUnstableData, AnswersWithProbabilityAtMostDelta) {
  const Records unstable = runs({{0, 20}, {kHigh, 10}, {3 * kHigh, 10}});
  ASSERT_EQ(reference_stability(unstable, kFine), 1);
  ASSERT_EQ(reference_stability(unstable, kCoarse), 1);
  for (const double epsilon : kEpsilons) {
    for (const double delta : {0.3, 0.05}) {
      const std::vector<IqrStage> stages = two_stages(epsilon, delta);
      const StagedIqrOutcomes outcomes({{kFine, 0, 1, 0}, {kCoarse, 0, 1, 0}});
      IqrSampler sampler(unstable, epsilon, delta);
      const Sample sample = take_sample(outcomes.size(), 50'000,
                                        [&] { return outcomes.index(sampler.draw_by(stages)); });
      EXPECT_GT(fit_p_value(sample, outcomes.law(unstable, stages)), kFalseAlarm);
      const Law law = outcomes.law(unstable, stages);
      EXPECT_LE(law[3] + law[4], delta / 2 + kRounding);
      EXPECT_LE(1 - law[0], delta + kRounding);
    }
  }
}

Sample staged_sample(const Records& records, std::span<const IqrStage> stages,
                     const StagedIqrOutcomes& outcomes) {
  IqrSampler sampler(records, 1, 0.1);
  return take_sample(outcomes.size(), 20'000,
                     [&] { return outcomes.index(sampler.draw_by(stages)); });
}

StagedIqrOutcomes coarse_staged_outcomes(const Neighbours& pair, double epsilon) {
  return StagedIqrOutcomes(
      {outcomes_on(kFine, pair, epsilon, 256, 3), outcomes_on(kCoarse, pair, epsilon, 256, 3)});
}

// The pairs are at the thresholds of both tests.
TEST(TwoStageIqrReleases, FollowTheExactLawAndKeepEpsilonAndDelta) {
  for (const double epsilon : {1.0, 3.0}) {
    for (const Neighbours& pair : {up_to("", 2, kHighInItsBin), up_to("", 1, kHighInTheNext),
                                   up_to("", 3, 1.1 * kHigh), up_to("", 1, 3 * kHigh)}) {
      const std::vector<IqrStage> stages = two_stages(epsilon, 0.1);
      const StagedIqrOutcomes outcomes = coarse_staged_outcomes(pair, epsilon);
      const Sample sample = staged_sample(pair.data, stages, outcomes);
      const Sample neighbour = staged_sample(pair.neighbour, stages, outcomes);
      EXPECT_GT(fit_p_value(sample, outcomes.law(pair.data, stages)), kFalseAlarm);
      EXPECT_GT(fit_p_value(neighbour, outcomes.law(pair.neighbour, stages)), kFalseAlarm);
      EXPECT_LE(
          certain_delta(sample, neighbour, static_cast<double>(grid_epsilon(epsilon)), kFalseAlarm),
          0.1);
    }
  }
}

// --- The count -----------------------------------------------------------------------------------

TEST(ExactNoisyCountLaw, KeepsEpsilon) {
  for (const double epsilon : {1.0, 8.0}) {
    for (const std::size_t n : {0U, 1U, 2U, 3U, 4U, 1000U}) {
      Law law;
      Law neighbour;
      for (std::int64_t count = 3; count < 5000; ++count) {
        law.push_back(count_probability(n, count, epsilon));
        neighbour.push_back(count_probability(n + 1, count, epsilon));
      }
      EXPECT_LE(exact_loss(law, neighbour), count_epsilon(epsilon) + kRounding) << n;
    }
  }
}

Sample counts_of(std::uint64_t records, Rational epsilon) {
  CsprngSource source;
  RandomStream random(source);
  return take_sample(18, 200'000, [&] {
    return std::min<std::uint64_t>(17, noisy_count(records, epsilon, random) - 3);
  });
}

TEST(NoisyCountReleases, KeepEpsilonAndAreRefutedWithHalfTheNoise) {
  for (const std::uint64_t n : {0U, 1U, 2U, 3U, 8U}) {
    const Sample few = counts_of(n, {1, 2});
    const Sample more = counts_of(n + 1, {1, 2});
    EXPECT_LE(certain_delta(few, more, 0.5, kFalseAlarm), 0) << n;
  }
  EXPECT_GT(certain_delta(counts_of(8, {1, 1}), counts_of(9, {1, 1}), 0.5, kFalseAlarm), 0);
}

// --- The exact law of the whole mechanism --------------------------------------------------------

// A law of the private count, at least 3, of n records.
using CountLaw = Real (*)(std::size_t n, std::int64_t count, double epsilon);

Real true_count(std::size_t n, std::int64_t count, double) {
  return count == std::max<std::int64_t>(3, static_cast<std::int64_t>(n)) ? 1 : 0;
}

// The outcomes are: no answer; 0; an answer's grid and step, which tell more than the double does.
// All steps below both datasets' own are one outcome, and so are all steps above. The probabilities
// there have a constant ratio, so this loses nothing. Exact up to e^-40, the probability of a count
// outside of likely_counts().
struct WholeLaws {
  WholeLaws(const Neighbours& pair, double epsilon, double delta, CountLaw count_law)
      : law(2), neighbour(2) {
    const auto [first, last] = likely_counts(pair.data.size(), epsilon);
    for (std::int64_t count = first; count <= last; ++count) {
      const IqrPlan plan(static_cast<std::uint64_t>(count), epsilon, delta);
      add(pair, plan,
          {count_law(pair.data.size(), count, epsilon),
           count_law(pair.neighbour.size(), count, epsilon)});
    }
  }

  Law law;
  Law neighbour;

 private:
  static IqrOutcomes between_the_steps(const Neighbours& pair, const LogGrid& grid) {
    const double one = reference_iqr(pair.data);
    const double other = reference_iqr(pair.neighbour);
    if (one == 0 || other == 0) return {grid, grid.step_of(std::max({one, other, 1.0})), 1, 0};
    const auto [first, last] = std::minmax({grid.step_of(one), grid.step_of(other)});
    return {grid, first, 1, last - first};
  }

  // `reached` has the probabilities that the two datasets reach a stage.
  void add(const Neighbours& pair, const IqrPlan& plan, std::pair<Real, Real> reached) {
    for (const IqrStage& stage : plan.stages()) {
      const IqrOutcomes outcomes = between_the_steps(pair, stage.grid);
      add(outcomes.law(pair.data, stage), reached.first, law);
      add(outcomes.law(pair.neighbour, stage), reached.second, neighbour);
    }
    law[0] += reached.first;
    neighbour[0] += reached.second;
  }

  // Lowers `reached` to the probability that the stage fails.
  static void add(const Law& given, Real& reached, Law& law) {
    law[1] += reached * given[1];
    for (std::size_t i = 2; i < given.size(); ++i) law.push_back(reached * given[i]);
    reached *= given[0];
  }
};

// Pairs with a fast exact law: their steps are close on every grid.
std::vector<Neighbours> close_pairs() {
  return {
      one_more("NoneAndOne", {}, 5),
      one_more("OneAndTwo", {5}, 5.5),
      one_more("TwoAndThree", {0, 1}, 1.2),
      one_more("FourAndFive", {0, 1, 2, 3}, 3.5),
      one_more("UnstableOnBothSides", runs({{0, 8}, {1, 1}, {1.7, 3}}), 1.7),
      one_more("Stable", runs({{0, 10}, {1.1, 1}, {1.2, 9}}), 1.2),
      one_more("ZeroAndPositive", runs({{0, 9}, {1, 3}}), 1),
      one_more("AllEqual", Records(11, 7), 7),
      {"OneReplaced", runs({{0, 10}, {1.1, 1}, {1.2, 5}}), runs({{0, 9}, {1.1, 1}, {1.2, 6}})},
  };
}

class WholeIqrMechanism : public ::testing::TestWithParam<Neighbours> {};

TEST_P(WholeIqrMechanism, KeepsEpsilonAndDeltaByItsExactLaw) {
  for (const double epsilon : {3.0, 8.0}) {
    for (const double delta : {0.3, 1e-3}) {
      const WholeLaws laws(GetParam(), epsilon, delta, count_probability);
      EXPECT_LE(exact_delta(laws.law, laws.neighbour, epsilon), delta + kRounding) << epsilon;
    }
  }
}

TEST_P(WholeIqrMechanism, FollowsItsExactLawAndKeepsEpsilonAndDeltaInReleases) {
  constexpr int kDraws = 20'000;
  constexpr double kEpsilon = 8;
  const Neighbours& pair = GetParam();
  for (const double delta : {0.3, 0.05}) {
    const WholeIqrOutcomes outcomes(outcomes_of(pair, kEpsilon, 64, 3));
    const Sample sample = sample_of(pair.data, kEpsilon, delta, outcomes, kDraws);
    const Sample neighbour = sample_of(pair.neighbour, kEpsilon, delta, outcomes, kDraws);
    EXPECT_GT(fit_p_value(sample, outcomes.law(pair.data, kEpsilon, delta)), kFalseAlarm);
    EXPECT_GT(fit_p_value(neighbour, outcomes.law(pair.neighbour, kEpsilon, delta)), kFalseAlarm);
    EXPECT_LE(certain_delta(sample, neighbour, kEpsilon, kFalseAlarm), delta);
  }
}

INSTANTIATE_TEST_SUITE_P(ClosePairs, WholeIqrMechanism, ::testing::ValuesIn(close_pairs()),
                         case_name);

// With these numbers of records the private count decides between one stage and two.
TEST(WholeIqrMechanismOnManyRecords, KeepsEpsilonAndDeltaByItsExactLaw) {
  constexpr double kEpsilon = 8;
  for (const double delta : {0.3, 0.01}) {
    for (const int stable : {1, 2, 4}) {
      const int quarter = delta == 0.3 ? 628 : 760;
      const Records data =
          runs({{0, 3 * quarter - 5}, {1000, 4 + stable}, {1004, 3}, {1080, quarter - 2 - stable}});
      ASSERT_EQ(std::ssize(data), 4 * quarter);
      for (const double added : {-1.0, 1000.0, 2000.0}) {
        const WholeLaws laws(one_more("", data, added), kEpsilon, delta, count_probability);
        EXPECT_LE(exact_delta(laws.law, laws.neighbour, kEpsilon), delta + kRounding) << stable;
      }
    }
  }
}

// --- A predicate on one person -------------------------------------------------------------------

// Many public records, and one more if a person meets a condition. The answer's grid must not
// reveal whether this is so.
const Neighbours kOneMore = one_more("", runs({{0, 50}, {1.5, 50}}), 1.5);

TEST(IqrOfOneMoreRecord, KeepsEpsilonAndDeltaByItsExactLaw) {
  const WholeLaws laws(kOneMore, 8, 1e-6, count_probability);
  EXPECT_LE(exact_delta(laws.law, laws.neighbour, 8), 1e-6L + kRounding);
}

TEST(IqrOfOneMoreRecord, RevealsTheRecordOnTheGridOfTheTrueCount) {
  const WholeLaws laws(kOneMore, 8, 1e-6, true_count);
  EXPECT_GT(exact_delta(laws.law, laws.neighbour, 8), 0.99L);
}

// Which of the two grids of the true counts has the answer.
std::size_t grids_fitted(const std::optional<double>& answer) {
  if (!answer) return 4;
  const auto is_on = [&](std::size_t count) {
    const LogGrid grid(count);
    return grid.value(grid.step_of(*answer)) == *answer ? std::size_t{1} : std::size_t{0};
  };
  return 2 * is_on(kOneMore.data.size()) + is_on(kOneMore.neighbour.size());
}

template <class Draw>
double delta_from_low_bits(Draw draw) {
  constexpr int kDraws = 20'000;
  IqrSampler data(kOneMore.data, 3, 1e-6);
  IqrSampler neighbour(kOneMore.neighbour, 3, 1e-6);
  const Sample one =
      take_sample(5, kDraws, [&] { return grids_fitted(draw(data, kOneMore.data.size())); });
  const Sample other = take_sample(
      5, kDraws, [&] { return grids_fitted(draw(neighbour, kOneMore.neighbour.size())); });
  return certain_delta(one, other, 3, kFalseAlarm);
}

TEST(IqrOfOneMoreRecord, DoesNotRevealTheRecordByItsLowBits) {
  EXPECT_LE(delta_from_low_bits([](IqrSampler& sampler, std::size_t) { return sampler.draw(); }),
            1e-6);
  EXPECT_GT(delta_from_low_bits([](IqrSampler& sampler, std::size_t records) {
              return sampler.draw_on(LogGrid(records));
            }),
            0.9);
}

// --- Releases on a given grid --------------------------------------------------------------------

// Few enough outcomes for a sample to tell them apart.
IqrOutcomes coarse_outcomes(const Neighbours& pair, double epsilon) {
  return outcomes_of(pair, epsilon, 256, 3);
}

class IqrReleases : public ::testing::TestWithParam<Neighbours> {};

TEST_P(IqrReleases, FollowTheExactLawAndKeepEpsilonAndDelta) {
  constexpr int kDraws = 5'000;
  const Neighbours& pair = GetParam();
  for (const double epsilon : kEpsilons) {
    for (const double delta : {0.3, 0.05}) {
      const IqrOutcomes outcomes = coarse_outcomes(pair, epsilon);
      const Sample sample = sample_of(pair.data, epsilon, delta, outcomes, kDraws);
      const Sample neighbour = sample_of(pair.neighbour, epsilon, delta, outcomes, kDraws);
      EXPECT_GT(fit_p_value(sample, outcomes.law(pair.data, epsilon, delta)), kFalseAlarm);
      EXPECT_GT(fit_p_value(neighbour, outcomes.law(pair.neighbour, epsilon, delta)), kFalseAlarm);
      EXPECT_LE(
          certain_delta(sample, neighbour, static_cast<double>(grid_epsilon(epsilon)), kFalseAlarm),
          delta);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllPairs, IqrReleases, ::testing::ValuesIn(all_pairs()), case_name);

// --- Unstable data -------------------------------------------------------------------------------

const Neighbours kUnstable = {"", runs({{0, 29}, {1, 1}, {1000, 10}}), runs({{0, 29}, {1000, 11}})};

Sample answers_of_unstable_data(double epsilon, double delta, const Records& records) {
  const IqrOutcomes answered{LogGrid(40), 0, 1, 0};
  return sample_of(records, epsilon, delta, answered, 50'000);
}

// The delta for which this margin is just large enough, so that an answer has a probability of
// exactly delta.
double tight_delta(double epsilon, std::int64_t margin) {
  return static_cast<double>(LaplaceLaw(part_epsilon(epsilon)).at_least(margin + 1)) * (1 + 1e-9);
}

TEST(IqrOfUnstableData, IsAnsweredWithProbabilityDelta) {
  ASSERT_EQ(reference_stability(kUnstable.data, LogGrid(40)), 1);
  ASSERT_EQ(reference_stability(kUnstable.neighbour, LogGrid(40)), 1);
  for (const double epsilon : kEpsilons) {
    for (const std::int64_t margin : {0, 1, 3}) {
      const double delta = tight_delta(epsilon, margin);
      for (const Records& records : {kUnstable.data, kUnstable.neighbour}) {
        const Sample sample = answers_of_unstable_data(epsilon, delta, records);
        const Law claimed = {1 - delta, 0, delta};
        const Sample answered = {
            {sample.chosen_on[0], 0, sample.chosen_on[2] + sample.chosen_on[3]},
            {sample.tested_on[0], 0, sample.tested_on[2] + sample.tested_on[3]}};
        EXPECT_GT(fit_p_value(answered, claimed), kFalseAlarm) << epsilon << " " << margin;
      }
    }
  }
}

// A margin that is too small by one answers e^(63 epsilon/128) times as often. The difference is at
// least 0.09, more than 20 standard deviations.
TEST(IqrOfUnstableData, IsRefutedWithASmallerMargin) {
  constexpr std::int64_t kBetween = 8000;  // between the steps of 1 and of 1000: 0 and about 29000
  for (const double epsilon : kEpsilons) {
    const double delta = tight_delta(epsilon, 1);
    const double too_large = tight_delta(epsilon, 0);
    ASSERT_EQ(reference_margin(part_epsilon(epsilon), too_large),
              reference_margin(part_epsilon(epsilon), delta) - 1);
    const IqrOutcomes outcomes{LogGrid(40), kBetween, 1, 0};
    const auto excess = [&](double spent) {
      return certain_delta(sample_of(kUnstable.data, epsilon, spent, outcomes, 50'000),
                           sample_of(kUnstable.neighbour, epsilon, spent, outcomes, 50'000),
                           epsilon, kFalseAlarm);
    };
    EXPECT_LE(excess(delta), delta);
    EXPECT_GT(excess(too_large), delta) << epsilon;
  }
}

// --- The power of the check ----------------------------------------------------------------------

// The bound on delta at the claimed epsilon for releases that spend `spent`. The data get an answer
// with a probability of about one half.
double delta_when_spending(double epsilon, double spent) {
  constexpr int kDraws = 100'000;
  constexpr double kDelta = 1e-4;
  const int stability = static_cast<int>(reference_margin(part_epsilon(spent), kDelta)) + 1;
  const auto records = static_cast<std::size_t>(4 * (stability + 3));
  const Neighbours pair = across_a_bin("", stability, value_of(records, 1023));
  const IqrOutcomes outcomes = coarse_outcomes(pair, epsilon);
  return certain_delta(sample_of(pair.data, spent, kDelta, outcomes, kDraws),
                       sample_of(pair.neighbour, spent, kDelta, outcomes, kDraws), epsilon,
                       kFalseAlarm);
}

TEST(IqrPrivacyCheck, AcceptsTheMechanism) {
  for (const double epsilon : kEpsilons) EXPECT_LE(delta_when_spending(epsilon, epsilon), 1e-4);
}

// The event of an answer of at least `wide` has an excess of at least 0.02, more than 10 standard
// deviations.
TEST(IqrPrivacyCheck, CatchesHalfTheNoise) {
  for (const double epsilon : kEpsilons) {
    EXPECT_GT(delta_when_spending(epsilon, 2 * epsilon), 1e-4) << epsilon;
  }
}

}  // namespace
}  // namespace dpquantile
