#include "support/prefix_sum_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>

#include "core/cdf/cdf_tree.hpp"
#include "core/prefix_sums/estimate_variance.hpp"
#include "core/tree/tree_variance.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::equal_weights_limit;
using test::heap;
using test::mean_variance_limit;
using test::worst_variance_limit;

TEST(PrefixSumLimit, IsTheSquaredMeanSingularValueForEqualWeights) {
  for (const std::uint32_t bins : {1U, 2U, 3U, 64U, 1000U}) {
    EXPECT_NEAR(mean_variance_limit(bins, 0), equal_weights_limit(bins), 1e-10) << bins;
    EXPECT_NEAR(worst_variance_limit(bins, 0), equal_weights_limit(bins), 1e-10) << bins;
  }
}

// The gamma_2 norm of ((1, 0), (1, 1)) is 2 / sqrt(3). For the mean the best diag(v) leaves
// (1 + 2 v) / 2 + sqrt(v (1 - v)), whose maximum is (1 + golden ratio) / 2.
TEST(PrefixSumLimit, IsExactForTwoBins) {
  EXPECT_NEAR(worst_variance_limit(2, 50), 4.0 / 3, 1e-9);
  EXPECT_NEAR(mean_variance_limit(2, 50), (1 + std::numbers::phi) / 2, 1e-9);
}

TEST(PrefixSumLimit, RisesWithTheIterations) {
  double mean = 0;
  double worst = 0;
  for (const int iterations : {0, 1, 3, 10}) {
    EXPECT_GT(mean_variance_limit(100, iterations), mean);
    EXPECT_GT(worst_variance_limit(100, iterations), worst);
    mean = mean_variance_limit(100, iterations);
    worst = worst_variance_limit(100, iterations);
  }
  EXPECT_GT(worst, mean);
}

struct Variances {
  double mean = 0;
  double worst = 0;
};

Variances of_factorization(std::uint32_t bins) {
  const PrefixFactorization factorization(bins, heap());
  const EstimateVariance variance(factorization, heap());
  const double unit = std::pow(static_cast<double>(factorization.sensitivity()), 2);
  Variances all;
  for (std::uint32_t k = 0; k < bins; ++k) {
    const double one = unit * variance.at(k).before;
    all.mean += one / bins;
    all.worst = std::max(all.worst, one);
  }
  return all;
}

Variances of_tree(std::uint32_t bins) {
  const CdfTree chosen = choose_cdf_tree(CdfMethod::kTree, bins, PrivacyMeasure::kZcdp);
  const LevelTree tree(bins, chosen.branching);
  const PrefixVariance variance(tree, chosen.shares);
  return {variance.average(), variance.at(variance.worst())};
}

TEST(PrefixSumLimit, IsBelowEveryMechanismAndNearTheFactorization) {
  for (const std::uint32_t bins : {16U, 64U, 256U, 1000U}) {
    const double mean = mean_variance_limit(bins, 10);
    const double worst = worst_variance_limit(bins, 10);
    EXPECT_LE(mean, of_tree(bins).mean) << bins;
    EXPECT_LE(worst, of_tree(bins).worst) << bins;
    const Variances factorization = of_factorization(bins);
    EXPECT_LE(mean, factorization.mean) << bins;
    EXPECT_LE(worst, factorization.worst) << bins;
    EXPECT_GE(mean, factorization.mean / 1.04) << bins;
    EXPECT_GE(worst, factorization.worst / 1.13) << bins;
  }
}

TEST(PrefixSumLimit, RefusesNoBins) {
  EXPECT_THROW(mean_variance_limit(0, 1), std::invalid_argument);
  EXPECT_THROW(worst_variance_limit(0, 1), std::invalid_argument);
}

TEST(ChiSquare, IsNearThatOfSmallNoise) {
  EXPECT_NEAR(test::chi_square_of_epsilon(1e-3), 1e-6, 1e-12);
  EXPECT_NEAR(test::chi_square_of_rho(1e-6), 2e-6, 1e-11);
  // Randomized response has the ratios e^epsilon and e^-epsilon.
  const double epsilon = 1.5;
  const double truth = 1 / (1 + std::exp(-epsilon));
  const double divergence = truth * truth / (1 - truth) + (1 - truth) * (1 - truth) / truth - 1;
  EXPECT_NEAR(test::chi_square_of_epsilon(epsilon), divergence, 1e-12);
}

}  // namespace
}  // namespace dpquantile
