#include "core/cdf/cdf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <new>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/noise.hpp"
#include "core/tree/tree_variance.hpp"
#include "support/case_name.hpp"
#include "support/cdf_law.hpp"
#include "support/cdf_testing.hpp"
#include "support/context_testing.hpp"
#include "support/dense_least_squares.hpp"
#include "support/law_testing.hpp"
#include "support/min_max.hpp"
#include "support/random_testing.hpp"
#include "support/random_trees.hpp"

// Every statistical check has a false-alarm probability below 5 * 10^-10 (see law_testing.hpp),
// except the few that state theirs.
namespace dpquantile {
namespace {

using test::Branching;
using test::case_name;
using test::cdf_plan;
using test::CdfReleaseLaw;
using test::CdfSampler;
using test::Cumulative;
using test::DenseLeastSquares;
using test::FailingSource;
using test::heap;
using test::kAllPrivacies;
using test::kCdfMethods;
using test::kLawFalseAlarm;
using test::laplace_probability;
using test::law_p_value;
using test::min_max;
using test::noise_probability;
using test::Real;
using test::TestContext;

using Counts = std::vector<std::uint64_t>;

constexpr std::uint32_t kMostBins = LevelTree::kMaxBins;
constexpr PrivacyMeasure kZcdp = PrivacyMeasure::kZcdp;

// --- The plan ------------------------------------------------------------------------------------

// The exact cost of the noise for a budget, in units of 2^-64: epsilon, or 1 / (2 sigma^2). All
// terms are dyadic, so no division leaves a remainder.
uint128_t units(PrivacyMeasure measure, double budget) {
  if (measure == PrivacyMeasure::kPure) {
    const Rational epsilon = rational_epsilon(budget);
    return uint128_t{epsilon.numerator} * (uint128_t{1} << 64) / epsilon.denominator;
  }
  const Rational variance = gaussian_variance(budget);
  return uint128_t{variance.denominator} * (uint128_t{1} << 63) / variance.numerator;
}

void expect_plan_within_budget(CdfMethod method, std::uint32_t bins,
                               const PrivacyParameter& privacy) {
  const CdfPlan plan = choose_cdf_plan(method, bins, privacy);
  uint128_t spent = 0;
  for (const double level : plan.level_budget()) spent += units(privacy.measure, level);
  const uint128_t whole = units(privacy.measure, privacy.value);
  EXPECT_TRUE(spent <= whole) << bins << " " << privacy.value;
  // The smallest rho is so few units of 2^-64 that rounding shows.
  const double unused = privacy.value < 1e-10 ? 1e-4 : 1e-7;
  EXPECT_GT(static_cast<double>(spent) / static_cast<double>(whole), 1 - unused);
  EXPECT_LE(static_cast<double>(whole), std::ldexp(privacy.value, 64));
  const auto& parts = plan.level_budget();
  EXPECT_LE(std::accumulate(parts.begin(), parts.end(), 0.0), privacy.value);
}

TEST(CdfLevels, SpendNoMoreThanTheWholeBudgetAndAlmostAllOfIt) {
  for (const CdfMethod method : kCdfMethods) {
    for (const PrivacyParameter& privacy : kAllPrivacies) {
      for (const std::uint32_t bins : {1U, 2U, 3U, 10U, 33U, 100U, 1024U}) {
        expect_plan_within_budget(method, bins, privacy);
      }
      expect_plan_within_budget(method, kMostBins, privacy);
    }
  }
}

// --- The cost of a release under zCDP ------------------------------------------------------------

TEST(RhoOfCdf, EqualsTheRhoOfThePlanUnderZcdp) {
  EXPECT_EQ(rho_of_cdf(choose_cdf_plan(CdfMethod::kTree, 1024, zcdp(0.25))), 0.25);
  EXPECT_EQ(rho_of_cdf(choose_cdf_plan(CdfMethod::kHistogram, 3, zcdp(1e-12))), 1e-12);
}

// Each level costs as much as randomised response: epsilon tanh(epsilon / 2), rounded up very
// slightly.
TEST(RhoOfCdf, IsTheSumOverTheLevelsForLaplaceNoise) {
  const auto expect_rho = [](const std::vector<double>& level_epsilons, double expected) {
    const Branching branching(level_epsilons.size(), 2);
    const double rho = rho_of_cdf(cdf_plan(1U << level_epsilons.size(), branching, level_epsilons));
    EXPECT_GT(rho, expected * (1 - 1e-15));
    EXPECT_LT(rho, expected * (1 + 1e-12));
  };
  expect_rho({1}, std::tanh(0.5));
  expect_rho({0.5, 0.25}, 0.5 * std::tanh(0.25) + 0.25 * std::tanh(0.125));
  expect_rho({1e-6, 1e-6, 2e-6}, 2e-6 * std::tanh(0.5e-6) + 2e-6 * std::tanh(1e-6));
  expect_rho({400, 600}, 1000);
}

TEST(RhoOfCdf, IsFarBelowThatOfTheWholeEpsilonForATree) {
  const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, 1024, pure(1));
  EXPECT_LT(rho_of_cdf(plan), 0.5 / plan.levels * 1.2);
  EXPECT_GT(rho_of_cdf(plan), 0.5 / plan.levels * 0.8);
}

TEST(CdfLevels, HaveTheSharesOfTheTree) {
  for (const PrivacyParameter& privacy : {pure(0.5), zcdp(0.5)}) {
    const CdfTree tree = choose_cdf_tree(CdfMethod::kTree, 1024, privacy.measure);
    const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, 1024, privacy);
    EXPECT_EQ(plan.method, CdfMethod::kTree);
    EXPECT_EQ(plan.bins, 1024U);
    EXPECT_EQ(plan.privacy, privacy);
    ASSERT_EQ(plan.levels, tree.branching.size());
    for (std::size_t level = 0; level < plan.levels; ++level) {
      EXPECT_EQ(plan.branching()[level], tree.branching[level]);
      EXPECT_NEAR(plan.level_budget()[level], 0.5 * tree.shares[level], 1e-12);
    }
    for (std::size_t level = plan.levels; level < LevelTree::kMaxLevels; ++level) {
      EXPECT_EQ(plan.branchings[level], 0U);
      EXPECT_EQ(plan.level_budgets[level], 0);
    }
  }
}

// --- From measurements to a curve ----------------------------------------------------------------

// The release before it is rounded to whole rows: least squares, monotone, from 0 to the total.
std::vector<Real> curve_by_the_book(const std::vector<double>& weights, const CdfPlan& plan,
                                    const std::vector<double>& measured) {
  std::vector<Real> prefixes =
      DenseLeastSquares(plan.bins, plan.branching(), weights).bins(measured);
  std::partial_sum(prefixes.begin(), prefixes.end(), prefixes.begin());
  const Real rows = std::max<Real>(prefixes.back(), 0);
  std::vector<Real> curve = min_max(prefixes);
  for (Real& value : curve) value = std::clamp<Real>(value, 0, rows);
  curve.back() = rows;
  return curve;
}

TEST(CumulativeFromMeasurements, IsTheLeastSquaresCurveMadeMonotoneClippedAndRounded) {
  std::mt19937 random(5);
  for (const auto& [bins, branching, weights] : test::random_trees(300, 30)) {
    const bool is_pure = random() % 2 == 0;
    std::vector<double> budgets;
    for (const double weight : weights) {
      budgets.push_back(is_pure ? std::sqrt(2 * weight) : weight / 2);
    }
    const CdfPlan plan =
        cdf_plan(bins, branching, budgets, is_pure ? PrivacyMeasure::kPure : PrivacyMeasure::kZcdp);
    std::vector<double> measured(LevelTree(bins, branching).total_nodes());
    for (double& node : measured) node = static_cast<double>(random() % 201) - 70;
    const std::vector<Real> expected = curve_by_the_book(weights, plan, measured);
    const auto released = cumulative_from_measurements(plan, measured, heap());
    ASSERT_EQ(released.size(), bins);
    for (std::uint32_t k = 0; k < bins; ++k) {
      const Real distance = std::abs(static_cast<Real>(released[k]) - expected[k]);
      ASSERT_LE(distance, 0.5L + 1e-9L) << bins << " " << k;
    }
  }
}

TEST(CumulativeFromMeasurements, IsZeroForANegativeTotal) {
  std::vector<double> measured = {5, -9, 2};
  EXPECT_EQ(cumulative_from_measurements(cdf_plan(3, {3}, {1}), measured, heap()),
            (std::pmr::vector<std::int64_t>{0, 0, 0}));
}

TEST(CumulativeFromMeasurements, EndsWithTheTotalEvenWhereTheCurveFalls) {
  std::vector<double> measured = {5, 4, -3};
  EXPECT_EQ(cumulative_from_measurements(cdf_plan(3, {3}, {1}), measured, heap()),
            (std::pmr::vector<std::int64_t>{5, 6, 6}));
}

// --- Before rounding -----------------------------------------------------------------------------

// The plans have hardly any noise, so both releases are the truth.
TEST(UnroundedCdf, IsTheCurveOfTheSameMeasurements) {
  const TestContext context;
  const Counts counts = {3, 0, 5, 1, 0};
  for (const PrivacyParameter& privacy : {pure(1000), zcdp(1000)}) {
    const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, 5, privacy);
    const auto curve = release_unrounded_cdf(counts, plan, context);
    ASSERT_EQ(curve.size(), 5U);
    const std::vector<double> expected = {3, 3, 8, 9, 9};
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(curve[k], expected[k], 1e-9);
  }
}

// The probability that all of 200 totals are negative is below 2^-199.
TEST(UnroundedCdf, IsMonotoneFromZeroToItsTotalAndNotWhole) {
  const TestContext context;
  int fractions = 0;
  for (const PrivacyParameter& privacy : {pure(0.1), zcdp(0.001)}) {
    const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, 40, privacy);
    for (int i = 0; i < 200; ++i) {
      const auto curve = release_unrounded_cdf(Counts(40), plan, context);
      ASSERT_GE(curve.front(), 0);
      ASSERT_TRUE(std::ranges::is_sorted(curve));
      for (const double count : curve) fractions += count != std::round(count);
    }
  }
  EXPECT_GT(fractions, 0);
}

// --- The noise -----------------------------------------------------------------------------------

// The release of one bin is the number of records plus noise, at least 0.
TEST(ReleaseCdf, AddsNoiseToTheRecordsOfOneBin) {
  constexpr std::int64_t kRadius = 400;
  for (const CdfMethod method : kCdfMethods) {
    for (const PrivacyParameter& privacy :
         {pure(0.1), pure(1), pure(3), zcdp(0.0005), zcdp(0.1), zcdp(0.5), zcdp(3)}) {
      CdfSampler sampler({1000}, choose_cdf_plan(method, 1, privacy));
      std::vector<double> law;
      for (std::int64_t y = -kRadius; y <= kRadius; ++y) {
        law.push_back(static_cast<double>(noise_probability(privacy.measure, privacy.value, y)));
      }
      std::vector<std::uint64_t> observed(law.size());
      for (int i = 0; i < 50'000; ++i) {
        ++observed.at(static_cast<std::size_t>(sampler.draw().front() - 1000 + kRadius));
      }
      EXPECT_GT(law_p_value(observed, law), kLawFalseAlarm) << privacy.value;
    }
  }
}

TEST(ReleaseCdf, ClipsOneBinWithoutRecordsAtZero) {
  constexpr double kEpsilon = 0.5;
  CdfSampler sampler({0}, choose_cdf_plan(CdfMethod::kTree, 1, pure(kEpsilon)));
  std::vector<double> law = {static_cast<double>((1 + laplace_probability(kEpsilon, 0)) / 2)};
  for (int y = 1; y <= 100; ++y) {
    law.push_back(static_cast<double>(laplace_probability(kEpsilon, y)));
  }
  std::vector<std::uint64_t> observed(law.size());
  for (int i = 0; i < 100'000; ++i) ++observed.at(static_cast<std::size_t>(sampler.draw().front()));
  EXPECT_GT(law_p_value(observed, law), kLawFalseAlarm);
}

// The counts are so large that nothing is pooled or clipped, and every bin shows its own noise.
TEST(ReleaseCdf, AddsIndependentNoiseToEveryBinOfAHistogram) {
  constexpr double kEpsilon = 1;
  constexpr std::int64_t kRadius = 2;
  constexpr std::size_t kSide = 2 * kRadius + 1;
  CdfSampler sampler({1000, 1000, 1000}, choose_cdf_plan(CdfMethod::kHistogram, 3, pure(kEpsilon)));
  std::vector<double> one(kSide);
  for (std::int64_t y = -kRadius; y <= kRadius; ++y) {
    one[static_cast<std::size_t>(y + kRadius)] =
        static_cast<double>(laplace_probability(kEpsilon, y));
  }
  one.front() += (1 - std::accumulate(one.begin(), one.end(), 0.0)) / 2;
  one.back() = one.front();
  std::vector<double> law;
  for (std::size_t i = 0; i < kSide * kSide * kSide; ++i) {
    law.push_back(one[i % kSide] * one[i / kSide % kSide] * one[i / kSide / kSide]);
  }
  std::vector<std::uint64_t> observed(law.size());
  for (int i = 0; i < 200'000; ++i) {
    const auto cumulative = sampler.draw();
    std::size_t outcome = 0;
    for (std::size_t bin = 3; bin-- > 0;) {
      const std::int64_t before = bin == 0 ? 0 : cumulative[bin - 1];
      const std::int64_t noise = cumulative[bin] - before - 1000;
      outcome = outcome * kSide +
                static_cast<std::size_t>(std::clamp(noise, -kRadius, kRadius) + kRadius);
    }
    ++observed[outcome];
  }
  EXPECT_GT(law_p_value(observed, law), kLawFalseAlarm);
}

// Tests a tree's release against the law found by exhaustion of the noise, which leaves out less
// than 10^-5, too little to be seen.
struct ReleaseCase {
  std::string name;
  CdfPlan plan;
  Counts counts;
  std::vector<std::int64_t> reach;
};

void PrintTo(const ReleaseCase& release_case, std::ostream* out) {
  *out << release_case.name;
}

class TreeCdfRelease : public ::testing::TestWithParam<ReleaseCase> {};

TEST_P(TreeCdfRelease, HasTheNoiseOfItsLevelInEveryNode) {
  const auto& [name, plan, counts, reach] = GetParam();
  const CdfReleaseLaw exact(plan, counts, counts, reach);
  std::map<Cumulative, std::size_t> index;
  std::vector<double> probabilities;
  for (const auto& [release, probability] : exact.probabilities()) {
    index[release] = probabilities.size();
    probabilities.push_back(static_cast<double>(probability));
  }
  const double left_out = 1 - std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  ASSERT_LT(left_out, 1e-5);
  probabilities.push_back(std::max(left_out, 1e-15));
  std::vector<std::uint64_t> observed(probabilities.size());
  CdfSampler sampler(counts, plan);
  for (int i = 0; i < 100'000; ++i) {
    const auto release = sampler.draw();
    const auto found = index.find({release.begin(), release.end()});
    ++observed[found == index.end() ? probabilities.size() - 1 : found->second];
  }
  EXPECT_GT(law_p_value(observed, probabilities), kLawFalseAlarm);
}

INSTANTIATE_TEST_SUITE_P(
    Plans, TreeCdfRelease,
    ::testing::Values(
        ReleaseCase{"TwoLevels", cdf_plan(3, {2, 2}, {2, 4}), {4, 0, 2}, {6, 3}},
        ReleaseCase{"TwoLevelsTheOtherWayRound", cdf_plan(3, {2, 2}, {5, 2.5}), {1, 3, 0}, {2, 5}},
        ReleaseCase{"FourBins", cdf_plan(4, {2, 2}, {3, 5}), {1, 0, 0, 2}, {4, 2}},
        ReleaseCase{
            "BinaryMethod", choose_cdf_plan(CdfMethod::kBinary, 3, pure(7)), {2, 2, 2}, {4, 4}},
        ReleaseCase{
            "NoRecords", choose_cdf_plan(CdfMethod::kBinary, 3, pure(7)), {0, 0, 0}, {4, 4}},
        ReleaseCase{"Gaussian", cdf_plan(3, {2, 2}, {0.5, 2}, kZcdp), {4, 0, 2}, {5, 3}},
        ReleaseCase{
            "GaussianTheOtherWayRound", cdf_plan(3, {2, 2}, {3, 0.4}, kZcdp), {1, 3, 0}, {2, 6}},
        ReleaseCase{
            "GaussianFourBins", cdf_plan(4, {2, 2}, {0.7, 1.5}, kZcdp), {1, 0, 0, 2}, {4, 3}},
        ReleaseCase{"GaussianBinaryMethod",
                    choose_cdf_plan(CdfMethod::kBinary, 3, zcdp(2)),
                    {2, 2, 2},
                    {4, 4}},
        ReleaseCase{"GaussianNoRecords",
                    choose_cdf_plan(CdfMethod::kHistogram, 3, zcdp(0.5)),
                    {0, 0, 0},
                    {6}}),
    case_name);

// Plans of every method and measure.
std::vector<CdfPlan> plans_of_every_kind(std::uint32_t bins, const PrivacyParameter& of_pure,
                                         const PrivacyParameter& of_zcdp) {
  std::vector<CdfPlan> plans;
  for (const CdfMethod method : kCdfMethods) {
    plans.push_back(choose_cdf_plan(method, bins, of_pure));
    plans.push_back(choose_cdf_plan(method, bins, of_zcdp));
  }
  return plans;
}

// Compares the mean square of all prefix errors with the promised variance, where nothing is
// clipped or pooled. The mean may differ by 8 of its standard errors, estimated from the draws. For
// thousands of draws the normal approximation leaves less than 10^-10.
TEST(ReleaseCdf, HasThePromisedPrefixVariance) {
  constexpr std::uint32_t kBins = 64;
  constexpr int kDraws = 3000;
  const Counts counts(kBins, 1'000'000);
  for (const CdfPlan& plan : plans_of_every_kind(kBins, pure(0.1), zcdp(0.005))) {
    CdfSampler sampler(counts, plan);
    double sum = 0;
    double sum_of_squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto cumulative = sampler.draw();
      double mean_square = 0;
      for (std::uint32_t k = 0; k < kBins; ++k) {
        const auto error = static_cast<double>(cumulative[k] - 1'000'000 * (std::int64_t{k} + 1));
        mean_square += error * error / kBins;
      }
      sum += mean_square;
      sum_of_squares += mean_square * mean_square;
    }
    const double mean = sum / kDraws;
    const double standard_error = std::sqrt((sum_of_squares / kDraws - mean * mean) / kDraws);
    const LevelTree tree(kBins, plan.branching());
    const double promised =
        PrefixVariance(tree, level_weights(plan.privacy.measure, plan.level_budget())).average();
    EXPECT_NEAR(mean, promised, 8 * standard_error) << cdf_method_name(plan.method);
    EXPECT_LT(standard_error, promised / 20);
  }
}

// --- Answers -------------------------------------------------------------------------------------

Counts skewed_counts(std::uint32_t bins) {
  Counts counts(bins);
  for (std::uint32_t i = 0; i < bins; ++i) counts[i] = i % 3 == 0 ? 3000 / (i + 1) : 0;
  return counts;
}

TEST(ReleaseCdf, IsMonotoneAndNotNegativeWithACountForEveryBin) {
  for (const CdfMethod method : kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 3U, 7U, 100U, 1000U}) {
      for (const PrivacyParameter& privacy : kAllPrivacies) {
        const CdfPlan plan = choose_cdf_plan(method, bins, privacy);
        for (const Counts& counts : {Counts(bins), skewed_counts(bins)}) {
          CdfSampler sampler(counts, plan);
          for (int i = 0; i < 5; ++i) {
            const auto cumulative = sampler.draw();
            ASSERT_EQ(cumulative.size(), bins);
            ASSERT_GE(cumulative.front(), 0);
            ASSERT_TRUE(std::ranges::is_sorted(cumulative));
          }
        }
      }
    }
  }
}

// Without records the total is noise around 0. In 200 draws it is never positive, or always, with a
// probability of at most 2^-199 (one of them is exactly 0 more often).
TEST(ReleaseCdf, IsNoiseWithoutRecords) {
  for (const CdfPlan& plan : plans_of_every_kind(50, pure(0.1), zcdp(0.005))) {
    CdfSampler sampler(Counts(50), plan);
    int positive = 0;
    for (int i = 0; i < 200; ++i) positive += sampler.draw().back() > 0;
    EXPECT_GT(positive, 0);
    EXPECT_LT(positive, 200);
  }
}

// No level has less than a 28th of the whole. So a node has noise with probability below
// 2 e^(-1000/28), and any of all nodes with less than 10^-10.
TEST(ReleaseCdf, IsExactAtAHugeBudget) {
  for (const std::uint32_t bins : {1U, 2U, 5U, 37U, 1000U, 1024U, 3001U}) {
    const Counts counts = skewed_counts(bins);
    Cumulative expected(bins);
    std::partial_sum(counts.begin(), counts.end(), expected.begin());
    for (const CdfPlan& plan : plans_of_every_kind(bins, pure(1000), zcdp(1000))) {
      const auto parts = plan.level_budget();
      ASSERT_GT(std::ranges::min(parts), 1000.0 / 28);
      const auto released = CdfSampler(counts, plan).draw();
      EXPECT_EQ(Cumulative(released.begin(), released.end()), expected) << bins;
    }
  }
}

TEST(ReleaseCdf, KeepsEveryOneOfBillionsOfRecords) {
  const Counts counts = {std::uint64_t{1} << 50, 1, std::uint64_t{1} << 51, 12345};
  for (const CdfMethod method : kCdfMethods) {
    const auto released = CdfSampler(counts, choose_cdf_plan(method, 4, pure(1000))).draw();
    std::int64_t before = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_EQ(released[i] - before, static_cast<std::int64_t>(counts[i]));
      before = released[i];
    }
  }
}

// Laplace noise of a node exceeds 10^4 with probability below e^(-10^4 / 20). Gaussian noise has a
// rho of at least 1/30 and a variance of at most 15, and exceeds it with far less.
TEST(ReleaseCdf, IsCloseToTheTruthForTheMostBins) {
  const Counts counts(kMostBins, 1);
  for (const CdfPlan& plan : plans_of_every_kind(kMostBins, pure(1), zcdp(1))) {
    const auto released = CdfSampler(counts, plan).draw();
    ASSERT_EQ(released.size(), kMostBins);
    EXPECT_TRUE(std::ranges::is_sorted(released));
    EXPECT_NEAR(static_cast<double>(released.back()), kMostBins, 1e4);
    EXPECT_NEAR(static_cast<double>(released[kMostBins / 2]), kMostBins / 2.0, 1e4);
  }
}

// --- Failure -------------------------------------------------------------------------------------

class CdfRelease : public ::testing::Test {
 protected:
  std::size_t release_from(RandomSource& source, CancelPoll::Predicate cancel_requested,
                           std::pmr::memory_resource* memory) const {
    return release_cdf(counts_, plan_, TestContext(source, cancel_requested, memory)).size();
  }

  static constexpr std::uint32_t kBins = std::uint32_t{1} << 17;
  Counts counts_ = Counts(kBins, 1);
  CdfPlan plan_ = choose_cdf_plan(CdfMethod::kTree, kBins, pure(1));
  CsprngSource good_source_;
};

TEST_F(CdfRelease, ThrowsWhenTheRandomSourceFails) {
  FailingSource source;
  EXPECT_THROW(release_from(source, nullptr, heap()), RandomnessUnavailable);
}

// Gives a few blocks of bytes, and then none.
class ExhaustedSource final : public RandomSource {
 public:
  void fill(std::span<std::byte> out) override {
    if (++requests_ > 3) throw RandomnessUnavailable("this source is exhausted");
    source_.fill(out);
  }

 private:
  CsprngSource source_;
  int requests_ = 0;
};

TEST_F(CdfRelease, ThrowsWhenTheRandomSourceFailsHalfway) {
  ExhaustedSource source;
  EXPECT_THROW(release_from(source, nullptr, heap()), RandomnessUnavailable);
}

TEST_F(CdfRelease, StopsWhenCancelled) {
  const auto stop = [] { return true; };
  const auto go_on = [] { return false; };
  EXPECT_THROW(release_from(good_source_, stop, heap()), Cancelled);
  EXPECT_EQ(release_from(good_source_, go_on, heap()), kBins);
}

TEST_F(CdfRelease, ThrowsWhenMemoryRunsOut) {
  EXPECT_THROW(release_from(good_source_, nullptr, std::pmr::null_memory_resource()),
               std::bad_alloc);
}

}  // namespace
}  // namespace dpquantile
