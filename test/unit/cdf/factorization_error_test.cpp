#include "core/cdf/factorization_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/cdf/cdf_error.hpp"
#include "core/prefix_sums/estimate_variance.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "support/cdf_testing.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::heap;
using test::TestWorkspace;

CdfPlan plan_of(std::uint32_t bins, double rho) {
  return choose_cdf_plan(CdfMethod::kFactorization, bins, zcdp(rho));
}

CdfError simulated(const CdfPlan& plan, double confidence) {
  return simulate_cdf_error(plan, confidence, TestWorkspace());
}

// The share of `runs` releases in which each figure holds, with noise from the standard library.
// The fixed seed makes these tests give the same result every time, so there is no false alarm.
CdfError coverage(const CdfPlan& plan, const CdfError& figure, int runs) {
  const PrefixFactorization factorization(plan.bins, heap());
  const uint128_t noise = vector_noise_variance(plan.privacy.value, factorization.sensitivity());
  std::normal_distribution<double> normal(0, std::sqrt(static_cast<double>(noise)));
  std::mt19937_64 random(9);
  std::vector<double> errors(plan.bins);
  CdfError covered{};
  for (int run = 0; run < runs; ++run) {
    for (double& error : errors) error = std::round(normal(random));
    factorization.estimate(errors);
    double everywhere = 0;
    double everywhere_fraction_rows = 0;
    for (const double error : errors) {
      const double share = std::max(std::abs(error), std::abs(errors.back() - error));
      covered.point += std::abs(error) <= figure.point ? 1.0 / plan.bins : 0;
      covered.point_fraction_rows += share <= figure.point_fraction_rows ? 1.0 / plan.bins : 0;
      everywhere = std::max(everywhere, std::abs(error));
      everywhere_fraction_rows = std::max(everywhere_fraction_rows, share);
    }
    covered.everywhere += everywhere <= figure.everywhere;
    covered.everywhere_fraction_rows += everywhere_fraction_rows <= figure.everywhere_fraction_rows;
  }
  return {covered.point / runs, covered.point_fraction_rows / runs, covered.everywhere / runs,
          covered.everywhere_fraction_rows / runs};
}

void expect_between(double low, const CdfError& rate, double high) {
  for (const double one :
       {rate.point, rate.point_fraction_rows, rate.everywhere, rate.everywhere_fraction_rows}) {
    EXPECT_GE(one, low);
    EXPECT_LE(one, high);
  }
}

// As for trees (cdf_error_test.cpp).
TEST(FactorizationError, HoldsAtItsConfidenceAndNotFarAbove) {
  const CdfPlan plan = plan_of(24, 5e-5);
  expect_between(0.508, coverage(plan, simulated(plan, 0.5), 20'000), 0.548);
  expect_between(0.953, coverage(plan, simulated(plan, 0.95), 20'000), 0.971);
}

// A rate of 800 releases has a standard error of 0.007. The bounds everywhere hold more often.
TEST(FactorizationError, HoldsForManyBins) {
  const CdfPlan plan = plan_of(6000, 5e-5);
  const CdfError covered = coverage(plan, simulated(plan, 0.95), 800);
  expect_between(0.94, covered, 0.995);
  EXPECT_LE(covered.point, 0.965);
}

TEST(FactorizationError, IsBoundedNotFarAboveItsSimulation) {
  for (const std::uint32_t bins : {256U, 1024U}) {
    const CdfPlan plan = plan_of(bins, 5e-5);
    for (const double confidence : {0.8, 0.95}) {
      const CdfError simulation = simulated(plan, confidence);
      const CdfError bound = bound_factorization_error(plan, confidence, TestWorkspace());
      EXPECT_NEAR(bound.point / simulation.point, 0.97, 0.06);
      EXPECT_NEAR(bound.point_fraction_rows / simulation.point_fraction_rows, 1, 0.08);
      EXPECT_GE(bound.everywhere, 0.96 * simulation.everywhere);
      EXPECT_LE(bound.everywhere, 1.15 * simulation.everywhere);
      EXPECT_GE(bound.everywhere_fraction_rows, 0.96 * simulation.everywhere_fraction_rows);
      EXPECT_LE(bound.everywhere_fraction_rows, 1.2 * simulation.everywhere_fraction_rows);
    }
  }
}

// The bounds take the largest variance at a few bins, with a margin of 1 %.
TEST(FactorizationError, TakesBinsThatTellTheLargestVariances) {
  for (const std::uint32_t bins : {4097U, 20'000U}) {
    const PrefixFactorization factorization(bins, heap());
    const EstimateVariance variance(factorization, heap());
    EstimateVariance::Variances at_points{0, 0};
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto point = variance.at((2 * i + 1) * bins / 16);
      at_points.before = std::max(at_points.before, point.before);
      at_points.after = std::max(at_points.after, point.after);
    }
    for (std::uint32_t k = 0; k < bins; k += bins < 5000 ? 41 : 401) {
      const auto one = variance.at(k);
      EXPECT_LE(one.before, 1.01 * at_points.before) << k;
      EXPECT_LE(one.after, 1.01 * at_points.after) << k;
    }
  }
}

TEST(FactorizationError, IsAtMost12RowsFor1024BinsAtRhoOneHalf) {
  EXPECT_LE(simulated(plan_of(1024, 0.5), 0.95).everywhere, 12);
  EXPECT_EQ(simulated(plan_of(1024, 0.5), 0.95).point, 6);
  const CdfError tree = simulated(choose_cdf_plan(CdfMethod::kTree, 1024, zcdp(0.5)), 0.95);
  EXPECT_GE(tree.everywhere, 15);
}

TEST(FactorizationError, IsSmallerThanThatOfTheTreeForTheMostBins) {
  const std::uint32_t bins = LevelTree::kMaxBins;
  const CdfError error = simulated(plan_of(bins, 0.005), 0.95);
  EXPECT_LE(error.everywhere, 300);
  EXPECT_LE(error.point, 110);
  EXPECT_LT(error.point, error.everywhere);
  EXPECT_LT(error.point, error.point_fraction_rows);
  EXPECT_LT(error.everywhere, error.everywhere_fraction_rows);
}

TEST(FactorizationError, IsTheSameEveryTime) {
  for (const std::uint32_t bins : {100U, 5000U}) {
    const CdfError one = simulated(plan_of(bins, 0.1), 0.9);
    const CdfError other = simulated(plan_of(bins, 0.1), 0.9);
    EXPECT_EQ(one.point_fraction_rows, other.point_fraction_rows);
    EXPECT_EQ(one.everywhere_fraction_rows, other.everywhere_fraction_rows);
  }
}

TEST(FactorizationError, IsZeroRowsWithoutNoise) {
  const CdfError figure = simulated(plan_of(30, 1000), 0.999);
  EXPECT_EQ(figure.point, 0);
  EXPECT_EQ(figure.everywhere, 0);
  EXPECT_LT(figure.everywhere_fraction_rows, 1.5);
}

}  // namespace
}  // namespace dpquantile
