// Releases of method factorization.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/base/error.hpp"
#include "core/cdf/cdf.hpp"
#include "core/prefix_sums/estimate_variance.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "core/tree/tree_variance.hpp"
#include "support/cdf_testing.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::CdfSampler;
using test::Cumulative;
using test::heap;
using test::TestContext;

using Counts = std::vector<std::uint64_t>;

constexpr std::uint32_t kMostBins = PrefixFactorization::kMaxBins;

CdfPlan plan_of(std::uint32_t bins, double rho) {
  return choose_cdf_plan(CdfMethod::kFactorization, bins, zcdp(rho));
}

// --- The plan ------------------------------------------------------------------------------------

TEST(FactorizedCdfPlan, HasNoLevelsAndCostsItsRho) {
  for (const std::uint32_t bins : {1U, 2U, 1000U, kMostBins}) {
    const CdfPlan plan = plan_of(bins, 0.25);
    EXPECT_EQ(plan.levels, 0U);
    EXPECT_TRUE(plan.branching().empty());
    EXPECT_TRUE(plan.level_budget().empty());
    EXPECT_EQ(rho_of_cdf(plan), 0.25);
    EXPECT_EQ(CdfMechanism(plan).cost().rho, 0.25);
    EXPECT_FALSE(CdfMechanism(plan).cost().epsilon.has_value());
  }
}

TEST(FactorizedCdfPlan, NeedsARho) {
  EXPECT_THROW(choose_cdf_plan(CdfMethod::kFactorization, 10, pure(1)), ParameterError);
  EXPECT_THROW(choose_cdf_tree(CdfMethod::kFactorization, 10, PrivacyMeasure::kZcdp),
               std::invalid_argument);
}

// --- The release ---------------------------------------------------------------------------------

TEST(FactorizedCdf, IsMonotoneAndNotNegativeWithACountForEveryBin) {
  for (const std::uint32_t bins : {1U, 2U, 3U, 7U, 100U, 1000U}) {
    for (const double rho : {1e-12, 1e-4, 1.0 / 3, 1000.0}) {
      for (const std::uint64_t rows : {0U, 50U}) {
        CdfSampler sampler(Counts(bins, rows), plan_of(bins, rho));
        for (int i = 0; i < 5; ++i) {
          const auto cumulative = sampler.draw();
          ASSERT_EQ(cumulative.size(), bins);
          ASSERT_GE(cumulative.front(), 0);
          ASSERT_TRUE(std::ranges::is_sorted(cumulative));
          ASSERT_LE(cumulative.back(), CdfCurve::kMostRows);
        }
      }
    }
  }
}

// The error of a prefix has a standard deviation of 0.12 rows at most. One of 2^20 is half a row
// off with probability below 10^-4; so the test takes 2000 bins and a deviation of 0.08: below
// 10^-6.
TEST(FactorizedCdf, IsExactAtAHugeBudget) {
  for (const std::uint32_t bins : {1U, 2U, 5U, 37U, 1024U, 2000U}) {
    Counts counts(bins);
    for (std::uint32_t j = 0; j < bins; ++j) counts[j] = j % 3 == 0 ? 3000 / (j + 1) + 10 : 10;
    Cumulative expected(bins);
    std::partial_sum(counts.begin(), counts.end(), expected.begin());
    const auto released = CdfSampler(counts, plan_of(bins, 1000)).draw();
    EXPECT_EQ(Cumulative(released.begin(), released.end()), expected) << bins;
  }
}

// Compares the mean square of all prefix errors with the promised variance, as for trees
// (cdf_test.cpp): 8 standard errors of thousands of draws.
TEST(FactorizedCdf, HasThePromisedPrefixVariance) {
  constexpr std::uint32_t kBins = 64;
  constexpr int kDraws = 3000;
  constexpr std::int64_t kRows = 1'000'000;
  const CdfPlan plan = plan_of(kBins, 0.005);
  CdfSampler sampler(Counts(kBins, kRows), plan);
  double sum = 0;
  double sum_of_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto cumulative = sampler.draw();
    double mean_square = 0;
    for (std::uint32_t k = 0; k < kBins; ++k) {
      const auto error = static_cast<double>(cumulative[k] - kRows * (std::int64_t{k} + 1));
      mean_square += error * error / kBins;
    }
    sum += mean_square;
    sum_of_squares += mean_square * mean_square;
  }
  const double mean = sum / kDraws;
  const double standard_error = std::sqrt((sum_of_squares / kDraws - mean * mean) / kDraws);

  const PrefixFactorization factorization(kBins, heap());
  const EstimateVariance variance(factorization, heap());
  const uint128_t noise = vector_noise_variance(plan.privacy.value, factorization.sensitivity());
  double promised = 0;
  for (std::uint32_t k = 0; k < kBins; ++k) {
    promised += variance.at(k).before * static_cast<double>(noise) / kBins;
  }
  EXPECT_NEAR(mean, promised, 8 * standard_error);
  EXPECT_LT(standard_error, promised / 20);
}

// A prefix has a standard deviation of some 4 rows.
TEST(FactorizedCdf, IsCloseToTheTruthForTheMostBins) {
  const auto released = CdfSampler(Counts(kMostBins, 1), plan_of(kMostBins, 1)).draw();
  ASSERT_EQ(released.size(), kMostBins);
  EXPECT_TRUE(std::ranges::is_sorted(released));
  EXPECT_NEAR(static_cast<double>(released.back()), kMostBins, 100);
  EXPECT_NEAR(static_cast<double>(released[kMostBins / 2]), kMostBins / 2.0, 100);
}

// More rows than can be measured give an ordinary curve, though a wrong one: no error tells of
// them.
TEST(FactorizedCdf, IsACurveForAnyNumberOfRows) {
  for (const int bits : {40, 50, 63}) {
    const auto released = CdfSampler(Counts(20, std::uint64_t{1} << bits), plan_of(20, 1)).draw();
    EXPECT_GE(released.front(), 0);
    EXPECT_TRUE(std::ranges::is_sorted(released));
    EXPECT_LE(released.back(), CdfCurve::kMostRows);
  }
}

// --- Against the tree ----------------------------------------------------------------------------

TEST(FactorizedCdf, HasSmallerVariancesThanTheTree) {
  for (const std::uint32_t bins : {2U, 3U, 8U, 50U, 256U, 1024U}) {
    const PrefixFactorization factorization(bins, heap());
    const EstimateVariance variance(factorization, heap());
    const double unit = std::pow(static_cast<double>(factorization.sensitivity()), 2);
    const CdfTree chosen = choose_cdf_tree(CdfMethod::kTree, bins, PrivacyMeasure::kZcdp);
    const LevelTree tree(bins, chosen.branching);
    const PrefixVariance of_tree(tree, chosen.shares);
    double mean = 0;
    double worst = 0;
    for (std::uint32_t k = 0; k < bins; ++k) {
      mean += unit * variance.at(k).before / bins;
      worst = std::max(worst, unit * variance.at(k).before);
    }
    EXPECT_LT(mean, 0.95 * of_tree.average()) << bins;
    EXPECT_LT(worst, 0.75 * of_tree.at(of_tree.worst())) << bins;
    EXPECT_LT(unit * variance.at(bins - 1).before, of_tree.at(bins)) << bins;
    if (bins == 1024) {
      EXPECT_LT(mean, 0.72 * of_tree.average());
      EXPECT_LT(worst, 0.55 * of_tree.at(of_tree.worst()));
    }
  }
}

}  // namespace
}  // namespace dpquantile
