#include "support/quantile_limit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "support/chain_limit.hpp"
#include "support/prefix_sum_limit.hpp"

namespace dpquantile {
namespace {

using test::hard_quantile_limit;
using test::HardQuantileLimit;
using test::spread_quantile_limit;
using test::spread_quantiles_limit;

// The exponential mechanism for the median on the data of a HardQuantileLimit: the cell of the
// filling has rank error 0, all others at least filling / 2, which one row changes by 1 / 2.
double error_of_exponential_mechanism(double cells, double filling, double epsilon) {
  const double others = (cells - 1) * std::exp(-epsilon * filling / 2);
  return filling / 2 * others / (1 + others);
}

TEST(HardQuantileLimit, IsBelowTheErrorOfTheExponentialMechanism) {
  for (const double cells : {2.0, 1000.0, 1e6}) {
    for (const double epsilon : {0.1, 1.0, 3.0}) {
      const HardQuantileLimit limit = hard_quantile_limit(cells, 1000, pure(epsilon));
      const double error =
          error_of_exponential_mechanism(cells, static_cast<double>(limit.filling), epsilon);
      EXPECT_LT(limit.error, error) << cells << " cells, epsilon " << epsilon;
    }
  }
}

// The two cells are equally likely without the rows. With each row a right answer gets more likely
// by at most e^epsilon, and a wrong one less likely by at most as much.
TEST(HardQuantileLimit, IsExactForTwoCellsAndTwoRows) {
  const double first = 1 - 0.5 / std::exp(1);
  const double second = 1 - (1 - first) / std::exp(1);
  EXPECT_NEAR(hard_quantile_limit(2, 2, pure(1)).error, 1 - second, 1e-12);
}

// A mechanism must be told so often that the cell is more likely than all others together.
TEST(HardQuantileLimit, GrowsWithTheLogarithmOfTheCells) {
  const double epsilon = 0.1;
  for (const double cells : {1e6, 1e12, 1e18}) {
    const double leading = std::log(cells) / (2 * epsilon);
    const double limit = hard_quantile_limit(cells, 1000, pure(epsilon)).error;
    EXPECT_LT(limit, leading) << cells;
    EXPECT_GT(limit, 0.7 * leading) << cells;
  }
}

// With Gaussian noise of variance 1 / (2 rho) an event of probability 1 / cells gets the
// probability of a normal variable below its quantile moved by filling * sqrt(2 rho).
TEST(HardQuantileLimit, IsBelowTheErrorOfATestWithGaussianNoise) {
  const double rho = 0.5;
  const double quantile_of_cells = -4.753424;  // of 1e-6
  const HardQuantileLimit limit = hard_quantile_limit(1e6, 1000, zcdp(rho));
  const auto filling = static_cast<double>(limit.filling);
  const double z = quantile_of_cells + filling * std::sqrt(2 * rho);
  const double missed = std::erfc(z / std::sqrt(2.0)) / 2;
  EXPECT_LT(limit.error, filling / 2 * missed);
  EXPECT_GT(limit.error, filling / 4 * missed);
}

TEST(HardQuantileLimit, UsesNoMoreRowsThanItMay) {
  EXPECT_EQ(hard_quantile_limit(1e6, 4, pure(1)).filling, 4);
  EXPECT_EQ(hard_quantile_limit(1e6, 1, pure(1)).error, 0);
  EXPECT_THROW(hard_quantile_limit(1, 4, pure(1)), std::invalid_argument);
}

TEST(SpreadQuantilesLimit, IsHalfARowForTheMedianOverTheDivergence) {
  EXPECT_NEAR(spread_quantiles_limit(1, zcdp(0.3)), 0.5 / std::sqrt(test::chi_square_of_rho(0.3)),
              1e-12);
  EXPECT_NEAR(spread_quantiles_limit(1, pure(2)), 0.5 / std::sqrt(test::chi_square_of_epsilon(2)),
              1e-12);
}

// Two terciles: the matrix of their covariances has the eigenvalues 1 and 1 / 3.
TEST(SpreadQuantilesLimit, IsANuclearNorm) {
  EXPECT_NEAR(spread_quantiles_limit(2, zcdp(0.3)),
              (1 + std::sqrt(1.0 / 3)) / std::sqrt(6 * test::chi_square_of_rho(0.3)), 1e-12);
}

// Gaussian noise on the number of rows between each two quantiles estimates all ranks.
TEST(SpreadQuantilesLimit, IsBelowTheErrorOfNoisyCounts) {
  const double rho = 1e-4;
  for (const int m : {1, 2, 9, 40}) {
    double squares = 0;
    for (int i = 1; i <= m; ++i) {
      const double q = static_cast<double>(i) / (m + 1);
      squares += (i * (1 - q) * (1 - q) + (m + 1 - i) * q * q) / (2 * rho) / m;
    }
    EXPECT_LE(spread_quantiles_limit(m, zcdp(rho)), std::sqrt(squares)) << m;
  }
}

TEST(SpreadQuantileLimit, IsThatOfACountTimesTheLargestMove) {
  for (const double q : {0.1, 0.5, 0.8}) {
    const double most = std::max(q, 1 - q) * test::count_limit(1);
    EXPECT_LT(spread_quantile_limit(q, 60, 1), most) << q;
    EXPECT_GT(spread_quantile_limit(q, 60, 1), 0.95 * most) << q;
  }
}

}  // namespace
}  // namespace dpquantile
