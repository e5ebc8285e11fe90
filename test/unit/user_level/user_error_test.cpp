#include "core/user_level/user_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/user_mean.hpp"
#include "core/user_level/user_variance.hpp"
#include "core/user_level/window_interval.hpp"
#include "support/context_testing.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile {
namespace {

using test::heap;
using test::TestContext;

constexpr std::uint32_t kOne = FixedPoint::kOne;

class UserErrorForecasts : public ::testing::Test {
 protected:
  UserErrorForecast mean(const UserQuery& query) {
    return forecast_mean_error(counts_, query, context_);
  }

  double mean_error(std::uint64_t bound, double epsilon) {
    const std::uint64_t kept = counts_.kept(bound);
    return mean_left_out_error(counts_.rows(), kept) +
           mean_sensitivity_fraction(kept, bound) / epsilon;
  }
  double variance_error(std::uint64_t bound, double epsilon) {
    const std::uint64_t kept = counts_.kept(bound);
    return variance_left_out_error(counts_.rows(), kept) +
           variance_sensitivity_fraction(kept, bound) / epsilon;
  }

  const std::vector<UsersWithRows> histogram_ = {{1, 50}, {10, 30}, {200, 4}, {900, 1}};
  RowsPerUser counts_{histogram_, heap()};
  TestContext context_;
};

TEST_F(UserErrorForecasts, AreTheLeastWorstCaseErrorForArray) {
  for (const double epsilon : {0.01, 0.5, 2.0, 50.0}) {
    const UserErrorForecast array =
        mean({UserMethod::kArray, ContributionRule::kOptimal, 0, pure(epsilon)});
    const UserErrorForecast all =
        mean({UserMethod::kBaseline, ContributionRule::kOptimal, 0, pure(epsilon)});
    EXPECT_NEAR(*array.left_out + array.noise, mean_error(array.max_contributions, epsilon), 1e-12);
    for (const UsersWithRows& run : histogram_) {
      EXPECT_LE(*array.left_out + array.noise, mean_error(run.rows, epsilon) + 1e-12);
    }
    EXPECT_EQ(all.max_contributions, 900U);
    EXPECT_EQ(*all.left_out, 0);
    EXPECT_EQ(all.kept_rows, 2050U);
  }
}

TEST_F(UserErrorForecasts, AreTheLeastWorstCaseErrorForTheVariance) {
  const UserQuery query{UserMethod::kArray, ContributionRule::kOptimal, 0, pure(0.5)};
  const UserErrorForecast array = forecast_variance_error(counts_, query);
  EXPECT_NEAR(*array.left_out + array.noise, variance_error(array.max_contributions, 0.5), 1e-12);
  for (const UsersWithRows& run : histogram_) {
    EXPECT_LE(*array.left_out + array.noise, variance_error(run.rows, 0.5) + 1e-12);
  }
}

// sqrt(pi rho) = 1/2: Gaussian noise of the same expected magnitude.
TEST_F(UserErrorForecasts, AreThoseOfEqualNoiseUnderRho) {
  const PrivacyParameter rho = zcdp(0.25 / std::numbers::pi);
  for (const UserMethod method : {UserMethod::kArray, UserMethod::kBaseline}) {
    const UserQuery of_epsilon{method, ContributionRule::kOptimal, 0, pure(0.5)};
    const UserQuery of_rho{method, ContributionRule::kOptimal, 0, rho};
    EXPECT_EQ(mean(of_rho).max_contributions, mean(of_epsilon).max_contributions);
    EXPECT_DOUBLE_EQ(mean(of_rho).noise, mean(of_epsilon).noise);
    EXPECT_DOUBLE_EQ(forecast_variance_error(counts_, of_rho).noise,
                     forecast_variance_error(counts_, of_epsilon).noise);
  }
}

// 'bounded': the mean magnitude of the noise of 1000 rows at the lower bound, where it is largest.
TEST_F(UserErrorForecasts, BoundTheNoiseOfBounded) {
  constexpr int kDraws = 4000;
  const test::GroupedRows rows(test::UserValues(1000, {0}));
  const RowsPerUser counts(*rows, context_);
  for (const PrivacyParameter& privacy : {pure(1), zcdp(0.5)}) {
    const UserQuery query{UserMethod::kBounded, ContributionRule::kFixed, 1, privacy};
    const double noise = forecast_mean_error(counts, query, context_).noise;
    double above = 0;
    for (int i = 0; i < kDraws; ++i) {
      above += user_mean(*rows, query, context_) / double{kOne} / kDraws;
    }
    // Clamped at the lower bound, half of the noise is left.
    EXPECT_NEAR(2 * above, noise, 8 * noise * 1.5 / std::sqrt(kDraws));
  }
}

TEST_F(UserErrorForecasts, HaveNoLeftOutErrorForPrivateIntervals) {
  for (const UserMethod method :
       {UserMethod::kLevy, UserMethod::kQuantile, UserMethod::kQuantileAdaptive}) {
    EXPECT_FALSE(mean({method, ContributionRule::kOptimal, 0, pure(1)}).left_out.has_value());
  }
}

// A sensitivity of 256 units is the least that gets Laplace noise (user_noise.hpp). 'bounded' has
// noise of its own.
TEST_F(UserErrorForecasts, HaveTheLeastNoiseForManyRows) {
  constexpr std::uint64_t kUsers = 1 << 26;
  const RowsPerUser counts(std::vector<UsersWithRows>{{1, kUsers}}, heap());
  for (const UserMethod method : {UserMethod::kArray, UserMethod::kBounded}) {
    const UserQuery query{method, ContributionRule::kFixed, 1, pure(1)};
    const double noise = method == UserMethod::kArray ? 0x1p-23 : 0x1p-26;
    EXPECT_NEAR(forecast_mean_error(counts, query, context_).noise, noise, 1e-12);
    EXPECT_NEAR(forecast_variance_error(counts, query).noise, noise, 1e-12);
  }
  const UserQuery of_rho{UserMethod::kArray, ContributionRule::kFixed, 1, zcdp(1)};
  EXPECT_NEAR(forecast_mean_error(counts, of_rho, context_).noise,
              0x1p-26 / std::sqrt(std::numbers::pi), 1e-12);
}

TEST_F(UserErrorForecasts, MatchTheEmptyInputWithoutRows) {
  const RowsPerUser nobody(std::vector<UsersWithRows>{}, heap());
  const UserQuery query{UserMethod::kArray, ContributionRule::kOptimal, 0, pure(0.5)};
  EXPECT_EQ(forecast_mean_error(nobody, query, context_).noise, 2);
  EXPECT_EQ(forecast_variance_error(nobody, query).noise, 0.5);
}

TEST_F(UserErrorForecasts, RefuseWhatTheReleaseRefuses) {
  EXPECT_THROW(mean({UserMethod::kArray, ContributionRule::kOptimal, 0, pure(0)}), ParameterError);
  EXPECT_THROW(mean({UserMethod::kBounded, ContributionRule::kOptimal, 0, pure(1)}),
               ParameterError);
  EXPECT_THROW(
      forecast_variance_error(counts_, {UserMethod::kLevy, ContributionRule::kOptimal, 0, pure(1)}),
      ParameterError);
}

// The data is the worst for leaving rows out. With probability below 10^-14 a mean of n draws from
// noise of scale s is off by 8 s / sqrt(n).
TEST_F(UserErrorForecasts, BoundTheErrorOfReleases) {
  constexpr int kDraws = 2000;
  std::vector<UserRow> rows;
  std::uint64_t user = 0;
  double sum = 0;
  for (const UsersWithRows& run : histogram_) {
    for (std::uint64_t i = 0; i < run.users; ++i, ++user) {
      const std::uint32_t value = run.rows > 10 ? kOne : 0;
      rows.insert(rows.end(), as_size(run.rows), UserRow{user, 0, value});
      sum += static_cast<double>(run.rows) * value;
    }
  }
  const test::GroupedRows grouped(rows);
  const double truth = sum / static_cast<double>(rows.size()) / kOne;
  for (const UserMethod method : {UserMethod::kArray, UserMethod::kBaseline}) {
    for (const PrivacyParameter& privacy : {pure(1), zcdp(1)}) {
      const UserQuery query{method, ContributionRule::kOptimal, 0, privacy};
      const UserErrorForecast forecast = mean(query);
      double error = 0;
      for (int i = 0; i < kDraws; ++i) {
        const std::uint32_t released = user_mean(*grouped, query, context_);
        error += std::abs(released / double{kOne} - truth) / kDraws;
      }
      EXPECT_LE(error, *forecast.left_out + forecast.noise * (1 + 8 / std::sqrt(kDraws)));
    }
  }
}

// 40 arrays are too few for a private interval with epsilon = 0.5, and many with epsilon = 20.
TEST_F(UserErrorForecasts, AreTheNoiseOfTheRestOfEpsilonForQuantiles) {
  for (const UserMethod method : {UserMethod::kQuantile, UserMethod::kQuantileAdaptive}) {
    const UserErrorForecast forecast = mean({method, ContributionRule::kFixed, 10, pure(0.5)});
    EXPECT_EQ(forecast.kept_rows, 400U);
    EXPECT_DOUBLE_EQ(forecast.noise, 10.0 / 400 / 0.5);
    const unsigned spent = plan_windows(40, clipped_target(method, pure(20)), pure(20)).parts;
    ASSERT_GT(spent, 0U);
    EXPECT_DOUBLE_EQ(mean({method, ContributionRule::kFixed, 10, pure(20)}).noise,
                     10.0 / 400 / (20.0 * (32 - spent) / 32));
    const unsigned of_rho = plan_windows(40, clipped_target(method, zcdp(20)), zcdp(20)).parts;
    ASSERT_GT(of_rho, 0U);
    EXPECT_DOUBLE_EQ(mean({method, ContributionRule::kFixed, 10, zcdp(20)}).noise,
                     10.0 / 400 / std::sqrt(std::numbers::pi * 20 * (32 - of_rho) / 32));
  }
}

// Numbers of rows on both sides of 4 tau = U, and far from it. The range does not cut the interval
// around the value's bin; another bin has a probability below 10^-10.
TEST_F(UserErrorForecasts, AreTheNoiseOfReleasesForLevy) {
  constexpr int kDraws = 4000;
  constexpr double kEpsilon = 200;
  constexpr std::uint64_t kUsers = 5;
  for (const std::uint64_t rows_per_user : {1U, 31U, 126U, 1000U}) {
    const double tau = std::sqrt(std::log(10 * kUsers) / (2 * static_cast<double>(rows_per_user)));
    const std::vector<std::uint32_t> own(as_size(rows_per_user), kOne / 8 * 3);
    const test::GroupedRows rows(test::UserValues(kUsers, own));
    const RowsPerUser counts(*rows, context_);
    const UserQuery query{UserMethod::kLevy, ContributionRule::kOptimal, 0, pure(kEpsilon)};
    const double noise = forecast_mean_error(counts, query, context_).noise;
    const unsigned spent =
        levy_interval_parts(levy_half_width(kUsers, rows_per_user), kUsers, pure(kEpsilon));
    const double width = spent == 0 ? 1 : 4 * tau;
    EXPECT_EQ(spent == 0, rows_per_user <= 31);
    EXPECT_NEAR(noise, width / kUsers / (kEpsilon * (32 - spent) / 32), 1e-9);
    // The median, because an interval that misses the means is rare and far off. That of Laplace
    // noise is ln 2 times its mean.
    std::vector<double> errors;
    for (int i = 0; i < kDraws; ++i) {
      const std::uint32_t released = user_mean(*rows, query, context_);
      errors.push_back(std::abs(released / double{kOne} - 0.375));
    }
    std::ranges::sort(errors);
    EXPECT_NEAR(errors[kDraws / 2], noise * std::log(2.0), 8 * noise / std::sqrt(kDraws));
  }
}

// Clipping to a private interval happens only where it saves noise.
TEST_F(UserErrorForecasts, HaveNoMoreNoiseForLevyThanForTheWholeRange) {
  for (std::uint64_t users = 1; users < 2000; users += 1 + users / 3) {
    for (std::uint64_t rows = 1; rows < 20'000; rows += 1 + rows / 3) {
      const std::vector<UsersWithRows> histogram = {{rows, users}};
      const RowsPerUser counts(histogram, heap());
      const auto noise = [&](UserMethod method) {
        return forecast_mean_error(counts, {method, ContributionRule::kOptimal, 0, pure(1)},
                                   context_)
            .noise;
      };
      EXPECT_LE(noise(UserMethod::kLevy), noise(UserMethod::kBaseline));
    }
  }
}

}  // namespace
}  // namespace dpquantile
