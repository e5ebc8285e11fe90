#include "core/user_level/user_noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/privacy/zcdp.hpp"
#include "core/user_level/budget_split.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::TestContext;

TEST(NoisyStatistic, HasNoSmallLaplaceNoise) {
  EXPECT_EQ(with_least_sensitivity({5, 3}).sensitivity, 256U);
  EXPECT_EQ(with_least_sensitivity({5, 300}).sensitivity, 300U);
  EXPECT_EQ(with_least_sensitivity({5, 0}).sensitivity, 0U);
}

// A query of sensitivity 1 gets Laplace noise of scale 256, or Gaussian noise of sigma = 1. The
// mean magnitude of n draws has a standard deviation below (scale / sqrt(n)).
TEST(NoisyStatistic, HasTheNoiseOfItsMeasure) {
  constexpr int kDraws = 20'000;
  TestContext context;
  const auto mean_magnitude = [&](const PrivacyParameter& privacy) {
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double drawn = noisy_statistic(1'000'000, {500'000, 1}, privacy, 1, context.random);
      sum += std::abs(drawn - 500'000);
    }
    return sum / kDraws;
  };
  EXPECT_NEAR(mean_magnitude(pure(1)), 256, 8 * 256 / std::sqrt(kDraws));
  // The discrete Gaussian of sigma^2 = 1: 2 sum y e^(-y^2 / 2) / sum e^(-y^2 / 2) = 0.7276.
  EXPECT_NEAR(mean_magnitude(zcdp(0.5)), 0.7276, 8 / std::sqrt(kDraws));
}

// 256 units of 2^-31, and one.
TEST(NoisyStatistic, StatesTheNoiseOfItsMeasure) {
  EXPECT_DOUBLE_EQ(expected_magnitude(0.25, pure(2)), 0.125);
  EXPECT_EQ(expected_magnitude(0, pure(1)), 0);
  EXPECT_EQ(expected_magnitude(1e-8, pure(1)), 0x1p-23);
  EXPECT_DOUBLE_EQ(expected_magnitude(1e-8, zcdp(1)), 1e-8 * expected_noise(zcdp(1)));
  EXPECT_DOUBLE_EQ(expected_magnitude(0x1p-40, zcdp(1)), 0x1p-31 * expected_noise(zcdp(1)));
}

TEST(UserCost, IsRhoIfStated) {
  const PrivacyCost cost = user_cost(zcdp(0.25));
  EXPECT_FALSE(cost.epsilon);
  EXPECT_EQ(cost.delta, 0);
  EXPECT_EQ(cost.rho, 0.25);
}

TEST(UserCost, IsThatOfLaplaceNoiseOfALargeSensitivity) {
  EXPECT_DOUBLE_EQ(*user_cost(pure(1)).rho, rho_of_laplace(1, 256));
  EXPECT_LT(*user_cost(pure(12)).rho, rho_of_pure(12));
  EXPECT_EQ(*user_cost(pure(12.5)).rho, rho_of_pure(12.5));
}

// What an interval and the mean cost together, for every division of epsilon.
TEST(UserCost, CoversAnIntervalAndItsMean) {
  for (const double rho : {1e-12, 0.02, 3.0, 1000.0}) {
    for (unsigned parts = 1; parts <= kMostIntervalParts; ++parts) {
      const double interval = rho_of_bounded_range(interval_epsilon(zcdp(rho), parts));
      const double mean = share_of(zcdp(rho), kBudgetParts - parts).value;
      // The noise of the mean has a margin of a relative 2^-40.
      EXPECT_LE(interval + mean, rho * (1 + 0x1p-50));
      EXPECT_GT(interval + mean, rho * (1 - 1e-9));
    }
  }
  for (const double epsilon : {1e-6, 0.1, 1.0, 5.0, 12.0, 20.0, 1000.0}) {
    for (int parts = 1; parts <= 16; ++parts) {
      const double interval = epsilon * parts / 32;
      const double rest =
          std::min(rho_of_laplace(epsilon - interval, 256), rho_of_pure(epsilon - interval));
      EXPECT_LE(std::min(rho_of_bounded_range(interval), rho_of_pure(interval)) + rest,
                *user_cost(pure(epsilon)).rho * (1 + 1e-9));
    }
  }
}

}  // namespace
}  // namespace dpquantile
