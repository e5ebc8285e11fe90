#include "core/cdf.hpp"

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

#include "case_name.hpp"
#include "cdf_law.hpp"
#include "cdf_testing.hpp"
#include "core/error.hpp"
#include "core/noise.hpp"
#include "core/tree_variance.hpp"
#include "dense_least_squares.hpp"
#include "law_testing.hpp"
#include "min_max.hpp"
#include "random_testing.hpp"
#include "random_trees.hpp"

// Every statistical check has a false-alarm probability below 5 * 10^-10 (see law_testing.hpp); the
// few others say theirs.
namespace dpquantile {
namespace {

using test::Branching;
using test::case_name;
using test::cdf_law;
using test::CdfReleaseLaw;
using test::CdfSampler;
using test::Cumulative;
using test::DenseLeastSquares;
using test::FailingSource;
using test::heap;
using test::kCdfMethods;
using test::kLawFalseAlarm;
using test::laplace_probability;
using test::law_p_value;
using test::min_max;
using test::Real;

using Counts = std::vector<std::uint64_t>;

constexpr std::uint32_t kMostBins = LevelTree::kMaxBins;

// --- The law -------------------------------------------------------------------------------------

// In units of 2^-52, exactly.
uint128_t units(double epsilon) {
  const Rational rational = rational_epsilon(epsilon);
  return uint128_t{rational.numerator} * (uint128_t{1} << 52) / rational.denominator;
}

void expect_law_within_budget(CdfMethod method, std::uint32_t bins, double epsilon) {
  const CdfLaw law = choose_cdf_law(method, bins, epsilon);
  uint128_t spent = 0;
  for (const double level : law.level_epsilon()) spent += units(level);
  EXPECT_TRUE(spent <= units(epsilon)) << bins << " " << epsilon;
  EXPECT_GT(static_cast<double>(spent) / static_cast<double>(units(epsilon)), 1 - 1e-7);
  const auto& parts = law.level_epsilon();
  EXPECT_LE(std::accumulate(parts.begin(), parts.end(), 0.0), epsilon);
}

TEST(CdfLevels, SpendNoMoreThanEpsilonAndHardlyLess) {
  for (const CdfMethod method : kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 3U, 10U, 33U, 100U, 1024U}) {
      for (const double epsilon : {1e-6, 0.01, 0.1, 1.0 / 3, 1.0, 3.0, 1000.0}) {
        expect_law_within_budget(method, bins, epsilon);
      }
    }
    expect_law_within_budget(method, kMostBins, 1e-6);
    expect_law_within_budget(method, kMostBins, 1.0 / 3);
  }
}

TEST(CdfLevels, HaveTheSharesOfTheTree) {
  const CdfTree tree = choose_cdf_tree(CdfMethod::kTree, 1024);
  const CdfLaw law = choose_cdf_law(CdfMethod::kTree, 1024, 0.5);
  EXPECT_EQ(law.method, CdfMethod::kTree);
  EXPECT_EQ(law.bins, 1024U);
  EXPECT_EQ(law.epsilon, 0.5);
  ASSERT_EQ(law.levels, tree.branching.size());
  for (std::size_t level = 0; level < law.levels; ++level) {
    EXPECT_EQ(law.branching()[level], tree.branching[level]);
    EXPECT_NEAR(law.level_epsilon()[level], 0.5 * tree.shares[level], 1e-12);
  }
  for (std::size_t level = law.levels; level < LevelTree::kMaxLevels; ++level) {
    EXPECT_EQ(law.branchings[level], 0U);
    EXPECT_EQ(law.level_epsilons[level], 0);
  }
}

// --- From measurements to a curve ----------------------------------------------------------------

// What is released before it is rounded to whole rows: least squares, monotone, 0 to the total.
std::vector<Real> curve_by_the_book(const CdfLaw& law, const std::vector<double>& measured) {
  const std::vector<double> weights = level_weights(law.level_epsilon());
  std::vector<Real> prefixes = DenseLeastSquares(law.bins, law.branching(), weights).bins(measured);
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
    std::vector<double> level_epsilons;
    for (const double weight : weights) level_epsilons.push_back(std::sqrt(2 * weight));
    const CdfLaw law = cdf_law(bins, branching, level_epsilons);
    std::vector<double> measured(LevelTree(bins, branching).total_nodes());
    for (double& node : measured) node = static_cast<double>(random() % 201) - 70;
    const std::vector<Real> expected = curve_by_the_book(law, measured);
    const auto released = cumulative_from_measurements(law, measured, heap());
    ASSERT_EQ(released.size(), bins);
    for (std::uint32_t k = 0; k < bins; ++k) {
      const Real distance = std::abs(static_cast<Real>(released[k]) - expected[k]);
      ASSERT_LE(distance, 0.5L + 1e-9L) << bins << " " << k;
    }
  }
}

TEST(CumulativeFromMeasurements, OfANegativeTotalIsZero) {
  std::vector<double> measured = {5, -9, 2};
  EXPECT_EQ(cumulative_from_measurements(cdf_law(3, {3}, {1}), measured, heap()),
            (std::pmr::vector<std::int64_t>{0, 0, 0}));
}

TEST(CumulativeFromMeasurements, EndsWithTheTotalEvenWhereTheCurveFalls) {
  std::vector<double> measured = {5, 4, -3};
  EXPECT_EQ(cumulative_from_measurements(cdf_law(3, {3}, {1}), measured, heap()),
            (std::pmr::vector<std::int64_t>{5, 6, 6}));
}

// --- The noise -----------------------------------------------------------------------------------

// One bin: the release is the number of records plus noise, at least 0.
TEST(CdfOfOneBin, IsTheRecordsWithDiscreteLaplaceNoise) {
  constexpr std::int64_t kRadius = 400;
  for (const CdfMethod method : kCdfMethods) {
    for (const double epsilon : {0.1, 1.0, 3.0}) {
      CdfSampler sampler({1000}, choose_cdf_law(method, 1, epsilon));
      std::vector<double> law;
      for (std::int64_t y = -kRadius; y <= kRadius; ++y) {
        law.push_back(static_cast<double>(laplace_probability(epsilon, y)));
      }
      std::vector<std::uint64_t> observed(law.size());
      for (int i = 0; i < 50'000; ++i) {
        ++observed.at(static_cast<std::size_t>(sampler.draw().front() - 1000 + kRadius));
      }
      EXPECT_GT(law_p_value(observed, law), kLawFalseAlarm) << epsilon;
    }
  }
}

TEST(CdfOfOneBin, IsClippedAtZeroWithoutRecords) {
  constexpr double kEpsilon = 0.5;
  CdfSampler sampler({0}, choose_cdf_law(CdfMethod::kTree, 1, kEpsilon));
  std::vector<double> law = {static_cast<double>((1 + laplace_probability(kEpsilon, 0)) / 2)};
  for (int y = 1; y <= 100; ++y) {
    law.push_back(static_cast<double>(laplace_probability(kEpsilon, y)));
  }
  std::vector<std::uint64_t> observed(law.size());
  for (int i = 0; i < 100'000; ++i) ++observed.at(static_cast<std::size_t>(sampler.draw().front()));
  EXPECT_GT(law_p_value(observed, law), kLawFalseAlarm);
}

// Bins far apart: nothing is pooled or clipped, and every bin shows its own noise.
TEST(CdfOfAHistogram, HasIndependentNoiseInEveryBin) {
  constexpr double kEpsilon = 1;
  constexpr std::int64_t kRadius = 2;
  constexpr std::size_t kSide = 2 * kRadius + 1;
  CdfSampler sampler({1000, 1000, 1000}, choose_cdf_law(CdfMethod::kHistogram, 3, kEpsilon));
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

// A tree's release against the law found by exhaustion of the noise, which leaves out less than
// 10^-5: too little to be seen.
struct ReleaseCase {
  std::string name;
  CdfLaw law;
  Counts counts;
  std::vector<std::int64_t> reach;
};

void PrintTo(const ReleaseCase& release_case, std::ostream* out) {
  *out << release_case.name;
}

class CdfReleaseOfATree : public ::testing::TestWithParam<ReleaseCase> {};

TEST_P(CdfReleaseOfATree, HasDiscreteLaplaceNoiseOfItsLevelInEveryNode) {
  const auto& [name, law, counts, reach] = GetParam();
  const CdfReleaseLaw exact(law, counts, counts, reach);
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
  CdfSampler sampler(counts, law);
  for (int i = 0; i < 100'000; ++i) {
    const auto release = sampler.draw();
    const auto found = index.find({release.begin(), release.end()});
    ++observed[found == index.end() ? probabilities.size() - 1 : found->second];
  }
  EXPECT_GT(law_p_value(observed, probabilities), kLawFalseAlarm);
}

INSTANTIATE_TEST_SUITE_P(
    Of, CdfReleaseOfATree,
    ::testing::Values(
        ReleaseCase{"TwoLevels", cdf_law(3, {2, 2}, {2, 4}), {4, 0, 2}, {6, 3}},
        ReleaseCase{"TwoLevelsTheOtherWayRound", cdf_law(3, {2, 2}, {5, 2.5}), {1, 3, 0}, {2, 5}},
        ReleaseCase{"FourBins", cdf_law(4, {2, 2}, {3, 5}), {1, 0, 0, 2}, {4, 2}},
        ReleaseCase{"BinaryMethod", choose_cdf_law(CdfMethod::kBinary, 3, 7), {2, 2, 2}, {4, 4}},
        ReleaseCase{"NoRecords", choose_cdf_law(CdfMethod::kBinary, 3, 7), {0, 0, 0}, {4, 4}}),
    case_name);

// The mean square of all prefix errors against the variance promised, where nothing is clipped or
// pooled. It is refused beyond 8 of its standard errors, estimated from the draws: for thousands of
// draws the normal approximation leaves less than 10^-10.
TEST(CdfOfWideBins, HasThePromisedPrefixVariance) {
  constexpr std::uint32_t kBins = 64;
  constexpr int kDraws = 3000;
  const Counts counts(kBins, 1'000'000);
  for (const CdfMethod method : kCdfMethods) {
    const CdfLaw law = choose_cdf_law(method, kBins, 0.1);
    CdfSampler sampler(counts, law);
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
    const LevelTree tree(kBins, law.branching());
    const double promised = PrefixVariance(tree, level_weights(law.level_epsilon())).average();
    EXPECT_NEAR(mean, promised, 8 * standard_error) << cdf_method_name(method);
    EXPECT_LT(standard_error, promised / 20);
  }
}

// --- Answers -------------------------------------------------------------------------------------

Counts skewed_counts(std::uint32_t bins) {
  Counts counts(bins);
  for (std::uint32_t i = 0; i < bins; ++i) counts[i] = i % 3 == 0 ? 3000 / (i + 1) : 0;
  return counts;
}

TEST(CdfAnswer, IsMonotoneAndNotNegativeWithACountForEveryBin) {
  for (const CdfMethod method : kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 3U, 7U, 100U, 1000U}) {
      for (const double epsilon : {1e-6, 0.1, 10.0}) {
        const CdfLaw law = choose_cdf_law(method, bins, epsilon);
        for (const Counts& counts : {Counts(bins), skewed_counts(bins)}) {
          CdfSampler sampler(counts, law);
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

// Without records the total is noise about 0: in 200 draws it is never positive, or always, with
// probability 2^-199 at the most (one of them is exactly 0 more often).
TEST(CdfAnswer, WithoutRecordsIsNoise) {
  for (const CdfMethod method : kCdfMethods) {
    CdfSampler sampler(Counts(50), choose_cdf_law(method, 50, 0.1));
    int positive = 0;
    for (int i = 0; i < 200; ++i) positive += sampler.draw().back() > 0;
    EXPECT_GT(positive, 0);
    EXPECT_LT(positive, 200);
  }
}

// A node has noise with probability below 2 e^(-1000 / 20), one of all with less than 10^-14.
TEST(CdfAnswer, AtAHugeEpsilonIsExact) {
  for (const CdfMethod method : kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 5U, 37U, 1000U, 1024U, 3001U}) {
      const Counts counts = skewed_counts(bins);
      Cumulative expected(bins);
      std::partial_sum(counts.begin(), counts.end(), expected.begin());
      const auto released = CdfSampler(counts, choose_cdf_law(method, bins, 1000)).draw();
      EXPECT_EQ(Cumulative(released.begin(), released.end()), expected) << bins;
    }
  }
}

TEST(CdfAnswer, OfBillionsOfRecordsKeepsEveryOne) {
  const Counts counts = {std::uint64_t{1} << 50, 1, std::uint64_t{1} << 51, 12345};
  for (const CdfMethod method : kCdfMethods) {
    const auto released = CdfSampler(counts, choose_cdf_law(method, 4, 1000)).draw();
    std::int64_t before = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_EQ(released[i] - before, static_cast<std::int64_t>(counts[i]));
      before = released[i];
    }
  }
}

// Noise of a node exceeds 10^4 with probability below e^(-10^4 / 20).
TEST(CdfAnswer, OfTheMostBinsIsCloseToTheTruth) {
  const Counts counts(kMostBins, 1);
  for (const CdfMethod method : kCdfMethods) {
    const auto released = CdfSampler(counts, choose_cdf_law(method, kMostBins, 1)).draw();
    ASSERT_EQ(released.size(), kMostBins);
    EXPECT_TRUE(std::ranges::is_sorted(released));
    EXPECT_NEAR(static_cast<double>(released.back()), kMostBins, 1e4);
    EXPECT_NEAR(static_cast<double>(released[kMostBins / 2]), kMostBins / 2.0, 1e4);
  }
}

// --- Failure -------------------------------------------------------------------------------------

class CdfFailure : public ::testing::Test {
 protected:
  std::size_t release_from(RandomSource& source, CancelPoll::Predicate cancel_requested,
                           std::pmr::memory_resource* memory) const {
    RandomStream random(source);
    CancelPoll cancel(cancel_requested);
    return release_cdf(counts_, law_, random, cancel, memory).size();
  }

  static constexpr std::uint32_t kBins = std::uint32_t{1} << 17;
  Counts counts_ = Counts(kBins, 1);
  CdfLaw law_ = choose_cdf_law(CdfMethod::kTree, kBins, 1);
  CsprngSource good_source_;
};

TEST_F(CdfFailure, OfTheRandomSourceIsAnException) {
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

TEST_F(CdfFailure, OfTheRandomSourceHalfwayIsAnException) {
  ExhaustedSource source;
  EXPECT_THROW(release_from(source, nullptr, heap()), RandomnessUnavailable);
}

TEST_F(CdfFailure, IsACancelThatWasRequested) {
  EXPECT_THROW(release_from(
                   good_source_, [] { return true; }, heap()),
               Cancelled);
  EXPECT_EQ(release_from(
                good_source_, [] { return false; }, heap()),
            kBins);
}

TEST_F(CdfFailure, OfMemoryIsAnException) {
  EXPECT_THROW(release_from(good_source_, nullptr, std::pmr::null_memory_resource()),
               std::bad_alloc);
}

}  // namespace
}  // namespace dpquantile
