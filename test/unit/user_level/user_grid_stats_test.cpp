#include "core/user_level/user_grid_stats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/base/error.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "support/context_testing.hpp"
#include "support/parameter_error.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile {
namespace {

using test::GroupedRows;
using test::TestContext;

constexpr std::uint32_t kOne = FixedPoint::kOne;
constexpr auto kByGrid = Contribution::kUserInGrid;

class UserGridStats : public ::testing::Test {
 protected:
  GridRelease release_of(const std::vector<UserRow>& rows, std::uint32_t grids,
                         const PrivacyParameter& privacy, bool suppress = true) {
    return user_grid_stats(*GroupedRows(rows, kByGrid), grids, privacy, suppress, context_);
  }

  TestContext context_;
};

// Grid g has 200 users with equally many values 0 and (g + 1) / 4: one of each, and five of each
// for the heavy user 0, who is in all grids.
std::vector<UserRow> three_grids() {
  std::vector<UserRow> rows;
  for (std::uint32_t grid = 0; grid < 3; ++grid) {
    for (std::uint32_t i = 0; i < 204; ++i) {
      const std::uint64_t user = i < 5 ? 0 : 1000 * (grid + 1) + i;
      rows.push_back({user, grid, 0});
      rows.push_back({user, grid, kOne / 4 * (grid + 1)});
    }
  }
  return rows;
}

TEST_F(UserGridStats, GivesEveryGridItsMeanAndVariance) {
  const GridRelease release = release_of(three_grids(), 3, pure(1000), false);
  ASSERT_EQ(release.grids.size(), 3U);
  EXPECT_EQ(release.grids_per_user, 3U);
  for (std::uint32_t grid = 0; grid < 3; ++grid) {
    const GridStatistics& statistics = release.grids[grid];
    EXPECT_EQ(statistics.grid, grid);
    EXPECT_EQ(statistics.counts.users_kept, 200U);
    EXPECT_EQ(statistics.counts.all, 408U);
    const double mean = (grid + 1) / 8.0;
    // The noise has a scale of 1.5 * 10^-4: 0.01 is exceeded with probability e^-66.
    EXPECT_NEAR(statistics.mean / double{kOne}, mean, 0.01);
    EXPECT_NEAR(statistics.variance / double{kOne}, mean * mean, 0.01);
  }
}

TEST_F(UserGridStats, SpendsMoreOnEachGridAfterSuppression) {
  const GridRelease release = release_of(three_grids(), 3, pure(0.1));
  EXPECT_EQ(release_of(three_grids(), 3, pure(0.1), false).grids_per_user, 3U);
  EXPECT_EQ(release.grids_per_user, 1U);
  std::uint64_t users = 0;
  for (const GridStatistics& statistics : release.grids) {
    users += statistics.counts.users_kept;
    EXPECT_LE(statistics.mean_error + statistics.variance_error, release.error_bound);
    // Half of epsilon / K = 0.1.
    const auto [all, kept, most, users_kept] = statistics.counts;
    EXPECT_DOUBLE_EQ(statistics.mean_error,
                     mean_left_out_error(all, kept) + mean_sensitivity_fraction(kept, most) / 0.05);
  }
  EXPECT_EQ(users, 598U);
}

TEST_F(UserGridStats, StatesItsErrors) {
  const GridRelease release = release_of(three_grids(), 3, pure(0.3), false);
  for (const GridStatistics& statistics : release.grids) {
    EXPECT_NEAR(statistics.mean_error, mean_sensitivity_fraction(408, 10) / 0.05, 1e-12);
    EXPECT_NEAR(statistics.variance_error, variance_sensitivity_fraction(408, 10) / 0.05, 1e-12);
  }
}

// The mean magnitude of n Laplace draws has standard deviation scale / sqrt(n). It is off by 8 of
// them with probability below 10^-14.
TEST_F(UserGridStats, HasTheNoiseOfItsPartOfEpsilon) {
  constexpr int kDraws = 3000;
  const std::vector<UserRow> rows = three_grids();
  double sum = 0;
  double scale = 0;
  for (int i = 0; i < kDraws; ++i) {
    const GridStatistics third = release_of(rows, 3, pure(60), false).grids[2];
    sum += std::abs(third.mean / double{kOne} - 0.375);
    scale = third.mean_error;
  }
  EXPECT_DOUBLE_EQ(scale, 10.0 / 408 / (60.0 / 6));
  EXPECT_NEAR(sum / kDraws, scale, 8 * scale / std::sqrt(kDraws));
}

// Three grids share rho: the noise of a statistic grows with the square root of their number.
TEST_F(UserGridStats, HasTheNoiseOfItsPartOfRho) {
  constexpr int kDraws = 3000;
  constexpr double kRho = 60;
  const std::vector<UserRow> rows = three_grids();
  double mean = 0;
  double variance = 0;
  GridStatistics third{};
  for (int i = 0; i < kDraws; ++i) {
    third = release_of(rows, 3, zcdp(kRho), false).grids[2];
    mean += std::abs(third.mean / double{kOne} - 0.375);
    variance += std::abs(third.variance / double{kOne} - 0.140625);
  }
  const double noise = 1 / std::sqrt(std::numbers::pi * kRho / 6);
  EXPECT_DOUBLE_EQ(third.mean_error, mean_sensitivity_fraction(408, 10) * noise);
  EXPECT_DOUBLE_EQ(third.variance_error, variance_sensitivity_fraction(408, 10) * noise);
  EXPECT_NEAR(mean / kDraws, third.mean_error, 8 * third.mean_error / std::sqrt(kDraws));
  EXPECT_NEAR(variance / kDraws, third.variance_error,
              8 * third.variance_error / std::sqrt(kDraws));
}

// Suppression never makes the error of a grid larger than the largest before.
TEST_F(UserGridStats, SuppressesUnderRhoAsWell) {
  for (const double rho : {1e-4, 0.003, 100.0}) {
    const GridRelease release = release_of(three_grids(), 3, zcdp(rho));
    const GridRelease all = release_of(three_grids(), 3, zcdp(rho), false);
    double largest = 0;
    for (const GridStatistics& grid : all.grids)
      largest = std::max(largest, grid.mean_error + grid.variance_error);
    EXPECT_DOUBLE_EQ(release.error_bound, largest);
    EXPECT_EQ(release.grids_per_user, rho < 1 ? 1U : 3U) << rho;
    for (const GridStatistics& grid : release.grids) {
      EXPECT_LE(grid.mean_error + grid.variance_error, release.error_bound * (1 + 1e-12));
    }
  }
}

TEST_F(UserGridStats, IsDefinedForOddInputs) {
  EXPECT_TRUE(release_of({}, 0, pure(1)).grids.empty());
  const GridRelease single = release_of({{7, 0, kOne}}, 1, pure(1));
  ASSERT_EQ(single.grids.size(), 1U);
  EXPECT_EQ(single.grids[0].variance, 0U);
  const GridRelease heavy = release_of({{7, 0, kOne}, {7, 1, 0}, {7, 2, 5}}, 3, pure(1e-6));
  EXPECT_EQ(heavy.grids.size(), 3U);
  EXPECT_EQ(heavy.grids_per_user, 3U);
  for (int i = 0; i < 50; ++i) {
    const GridStatistics noisy = release_of({{7, 0, kOne}, {8, 0, 0}}, 1, pure(1e-6)).grids.front();
    EXPECT_LE(noisy.mean, kOne);
    EXPECT_LE(noisy.variance, kOne / 4);
  }
}

TEST_F(UserGridStats, RefusesEpsilonOutOfRange) {
  for (const double epsilon : {0.0, -1.0, 1001.0, std::nan("")}) {
    EXPECT_THROW(release_of(three_grids(), 3, pure(epsilon)), ParameterError);
    EXPECT_THROW(release_of(three_grids(), 3, zcdp(epsilon)), ParameterError);
  }
}

// One user has two statistics in each of 20 grids.
TEST_F(UserGridStats, RefusesAnEpsilonTooSmallToBeShared) {
  std::vector<UserRow> rows;
  for (std::uint32_t grid = 0; grid < 20; ++grid) rows.push_back({7, grid, kOne / 2});
  test::expect_parameter_error(
      "epsilon must be at least 2.384185791015625e-06 for persons in 20 grids, got 1e-06",
      "Ask for a larger epsilon, or for fewer grids.", [&] { release_of(rows, 20, pure(1e-6)); });
  EXPECT_EQ(release_of(rows, 20, pure(2.4e-6)).grids.size(), 20U);
}

TEST_F(UserGridStats, RefusesARhoTooSmallToBeShared) {
  std::vector<UserRow> rows;
  for (std::uint32_t grid = 0; grid < 600; ++grid) rows.push_back({7, grid, kOne / 2});
  test::expect_parameter_error(
      "rho must be at least 1.0658141036401503e-12 for persons in 600 grids, got 1e-12",
      "Ask for a larger rho, or for fewer grids.", [&] { release_of(rows, 600, zcdp(1e-12)); });
  EXPECT_EQ(release_of(rows, 600, zcdp(1.1e-12)).grids.size(), 600U);
}

}  // namespace
}  // namespace dpquantile
