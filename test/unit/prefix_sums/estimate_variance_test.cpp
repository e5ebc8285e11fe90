#include "core/prefix_sums/estimate_variance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::heap;

// In units of 1 / (2 rho).
struct PrefixVariances {
  double mean = 0;
  double worst = 0;
  double total = 0;
  double worst_after = 0;
};

PrefixVariances variances_of(std::uint32_t bins) {
  const PrefixFactorization factorization(bins, heap());
  const EstimateVariance variance(factorization, heap());
  const double unit = std::pow(static_cast<double>(factorization.sensitivity()), 2);
  PrefixVariances all;
  for (std::uint32_t k = 0; k < bins; ++k) {
    const auto [before, after] = variance.at(k);
    all.mean += unit * before / bins;
    all.worst = std::max(all.worst, unit * before);
    all.worst_after = std::max(all.worst_after, unit * after);
    all.total = unit * before;
  }
  return all;
}

// The least mean variance of all prefixes under any factorization is at least the square of the
// mean singular value of the matrix of prefix sums.
double least_mean(std::uint32_t bins) {
  double sum = 0;
  for (std::uint32_t i = 1; i <= bins; ++i) {
    sum += 1 / (2 * std::sin((2 * i - 1) * std::numbers::pi / (4 * bins + 2)));
  }
  return std::pow(sum / bins, 2);
}

TEST(EstimateVariance, IsTheSumOfSquaresOfTheWeightsOnTheNoise) {
  const PrefixFactorization factorization(9, heap());
  const EstimateVariance variance(factorization, heap());
  std::vector<std::vector<double>> columns;
  for (int i = 0; i < 9; ++i) {
    columns.emplace_back(9);
    columns.back()[static_cast<std::size_t>(i)] = 1;
    factorization.estimate(columns.back());
  }
  for (std::uint32_t k = 0; k < 9; ++k) {
    double before = 0;
    double after = 0;
    for (const auto& column : columns) {
      before += column[k] * column[k];
      after += (column[8] - column[k]) * (column[8] - column[k]);
    }
    EXPECT_NEAR(variance.at(k).before, before, 1e-12 * before);
    EXPECT_NEAR(variance.at(k).after, after, 1e-12 * before);
  }
}

TEST(EstimateVariance, IsNearTheLeastThatAnyFactorizationHas) {
  EXPECT_NEAR(variances_of(1).mean, 1, 1e-12);
  for (const std::uint32_t bins : {2U, 3U, 10U, 64U, 256U, 1024U}) {
    const PrefixVariances variances = variances_of(bins);
    EXPECT_GE(variances.mean, least_mean(bins)) << bins;
    EXPECT_LE(variances.mean, 1.12 * least_mean(bins)) << bins;
    EXPECT_LE(variances.worst, 1.1 * variances.mean) << bins;
  }
}

// The tree of least error has 12.5 and 17.6 there, and the factorization of least mean 8.73.
TEST(EstimateVariance, IsThisFor1024Bins) {
  const PrefixVariances variances = variances_of(1024);
  EXPECT_NEAR(variances.mean, 8.99, 0.01);
  EXPECT_NEAR(variances.worst, 9.54, 0.01);
  EXPECT_NEAR(variances.total, 6.90, 0.01);
  EXPECT_NEAR(variances.worst_after, 13.80, 0.01);
}

}  // namespace
}  // namespace dpquantile
