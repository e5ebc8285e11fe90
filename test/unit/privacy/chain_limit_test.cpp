#include "support/chain_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace dpquantile {
namespace {

using test::chain_limit;

std::vector<double> evenly(std::size_t size, double step) {
  std::vector<double> answers;
  for (std::size_t i = 0; i < size; ++i) answers.push_back(step * static_cast<double>(i));
  return answers;
}

// The mean error of the geometric mechanism on 0 .. size - 1, whose outputs are replaced by the
// answers that are best for a uniformly distributed truth.
double error_of_geometric(const std::vector<double>& answers, double epsilon) {
  const double alpha = std::exp(-epsilon);
  const std::size_t size = answers.size();
  double sum = 0;
  for (std::size_t output = 0; output < size; ++output) {
    const bool at_end = output == 0 || output + 1 == size;
    const double mass = at_end ? 1 / (1 + alpha) : (1 - alpha) / (1 + alpha);
    double best = INFINITY;
    for (const double answer : answers) {
      double error = 0;
      for (std::size_t truth = 0; truth < size; ++truth) {
        const double distance = std::abs(static_cast<double>(output) - static_cast<double>(truth));
        error += mass * std::pow(alpha, distance) * std::abs(answer - answers[truth]);
      }
      best = std::min(best, error);
    }
    sum += best;
  }
  return sum / static_cast<double>(size);
}

TEST(ChainLimit, IsTheErrorOfRandomizedResponseForTwoDataSets) {
  const std::vector<double> answers{3, 5};
  for (const double epsilon : {0.1, 1.0, 4.0}) {
    EXPECT_NEAR(chain_limit(answers, epsilon), 2 / (1 + std::exp(epsilon)), 1e-9);
  }
}

// The geometric mechanism is best for all priors: Ghosh, Roughgarden, Sundararajan 2009.
TEST(ChainLimit, IsTheErrorOfTheGeometricMechanism) {
  for (const double epsilon : {0.2, 1.0, 2.5}) {
    for (const std::size_t size : {2U, 3U, 7U, 30U}) {
      const std::vector<double> answers = evenly(size, 0.5);
      EXPECT_NEAR(chain_limit(answers, epsilon), error_of_geometric(answers, epsilon), 1e-9)
          << size << " data sets, epsilon " << epsilon;
    }
  }
}

TEST(ChainLimit, IsTheErrorOfTheGeometricMechanismForUnevenAnswers) {
  const std::vector<double> answers{0, 0, 1, 4, 4.5, 9, 20};
  for (const double epsilon : {0.2, 1.0, 2.5}) {
    EXPECT_NEAR(chain_limit(answers, epsilon), error_of_geometric(answers, epsilon), 1e-9);
  }
}

TEST(ChainLimit, IsZeroForOneDataSet) {
  EXPECT_EQ(chain_limit(std::vector<double>{7}, 1), 0);
}

TEST(ChainLimit, RefusesWhatIsNoChain) {
  EXPECT_THROW(chain_limit({}, 1), std::invalid_argument);
  EXPECT_THROW(chain_limit(std::vector<double>{2, 1}, 1), std::invalid_argument);
  EXPECT_THROW(chain_limit(std::vector<double>{1, 2}, 0), std::invalid_argument);
}

TEST(CountLimit, IsWhatLongChainsTendTo) {
  for (const double epsilon : {0.5, 1.0, 3.0}) {
    const double limit = test::count_limit(epsilon);
    EXPECT_LT(chain_limit(evenly(150, 1), epsilon), limit);
    EXPECT_GT(chain_limit(evenly(150, 1), epsilon), 0.97 * limit);
  }
}

// A sum may also take the values between the multiples of its sensitivity.
TEST(SumLimit, IsBetweenTheLimitOfACountAndTheErrorOfLaplaceNoise) {
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    EXPECT_GT(test::sum_limit(5, epsilon), 5 * test::count_limit(epsilon));
    EXPECT_LT(test::sum_limit(5, epsilon), 5 / epsilon);
  }
}

// Rows at the far bound move a mean as rows of that size move a sum.
TEST(MeanLimit, IsNearThatOfASumForManyRows) {
  const double far = 82;
  const double rows = 1e5;
  const double limit = test::mean_limit(38, rows, 0, 120, 1);
  EXPECT_LT(limit, far / rows * test::count_limit(1));
  EXPECT_GT(limit, 0.95 * far / rows * test::count_limit(1));
  EXPECT_EQ(limit, test::mean_limit(82, rows, 0, 120, 1));
}

TEST(MovedUsersLimit, IsThatOfACountForUsersWithEqualShares) {
  const std::vector<double> shares(256, 1.0 / 256);
  EXPECT_NEAR(test::moved_users_limit(shares, 256, 1).error, test::count_limit(1), 0.01);
}

TEST(MovedUsersLimit, IsAtLeastWhatTheLargestUserGives) {
  const std::vector<double> shares{0.5, 0.1, 0.1, 0.1, 0.1, 0.1};
  EXPECT_GE(test::moved_users_limit(shares, 10, 1).error, 5 / (1 + std::exp(1)));
}

}  // namespace
}  // namespace dpquantile
