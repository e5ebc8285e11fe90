#include "core/user_level/user_query.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory_resource>
#include <numbers>
#include <vector>

#include "core/base/error.hpp"
#include "support/parameter_error.hpp"

namespace dpquantile {
namespace {

constexpr UserMethod kMethods[] = {
    UserMethod::kBaseline,         UserMethod::kArray,  UserMethod::kLevy, UserMethod::kQuantile,
    UserMethod::kQuantileAdaptive, UserMethod::kBounded};

constexpr std::uint64_t kMost = 0xffffffff;

TEST(CheckUserQuery, AcceptsTheEndsOfTheRanges) {
  for (const UserMethod method : kMethods) {
    for (const double epsilon : {1e-6, 1000.0}) {
      for (const std::uint64_t most : {std::uint64_t{1}, kMost}) {
        EXPECT_NO_THROW(check_user_query({method, ContributionRule::kFixed, most, pure(epsilon)}));
        const double rho = epsilon * epsilon;  // 1e-12 and a million
        EXPECT_NO_THROW(check_user_query(
            {method, ContributionRule::kFixed, most, zcdp(std::min(rho, 1000.0))}));
      }
    }
  }
}

TEST(CheckUserQuery, RefusesParametersOutOfRange) {
  for (const UserMethod method : kMethods) {
    for (const double epsilon : {0.0, -1.0, 9e-7, 1001.0, std::nan("")}) {
      EXPECT_THROW(check_user_query({method, ContributionRule::kFixed, 1, pure(epsilon)}),
                   ParameterError);
    }
    for (const double rho : {0.0, -1.0, 9e-13, 1001.0, std::nan("")}) {
      EXPECT_THROW(check_user_query({method, ContributionRule::kFixed, 1, zcdp(rho)}),
                   ParameterError);
    }
    for (const std::uint64_t most : {std::uint64_t{0}, kMost + 1}) {
      EXPECT_THROW(check_user_query({method, ContributionRule::kFixed, most, pure(1)}),
                   ParameterError);
    }
  }
}

TEST(CheckUserQuery, RefusesRulesThatReadTheDataForBounded) {
  for (const ContributionRule rule : {ContributionRule::kOptimal, ContributionRule::kMedian}) {
    EXPECT_THROW(check_user_query({UserMethod::kBounded, rule, 5, pure(1)}), ParameterError);
    EXPECT_NO_THROW(check_user_query({UserMethod::kArray, rule, 0, pure(1)}));
  }
}

TEST(CheckUserQuery, SaysWhatItGot) {
  const auto check = [](UserQuery query) { return [=] { check_user_query(query); }; };
  test::expect_parameter_error("epsilon must be between 1e-06 and 1000, got 0",
                               "Typical values lie between 0.01 and 3; smaller is more private.",
                               check({UserMethod::kArray, ContributionRule::kOptimal, 0, pure(0)}));
  test::expect_parameter_error(
      "max_contributions must be between 1 and 4294967295, got 4294967296",
      "It is the most rows of one person that count.",
      check({UserMethod::kLevy, ContributionRule::kFixed, kMost + 1, pure(1)}));
}

TEST(ClipsArrayMeans, HoldsForLevyAndTheQuantileMethods) {
  for (const UserMethod method : kMethods) {
    const bool clips = method == UserMethod::kLevy || method == UserMethod::kQuantile ||
                       method == UserMethod::kQuantileAdaptive;
    EXPECT_EQ(clips_array_means(method), clips);
  }
}

class MeanContributionBound : public ::testing::Test {
 protected:
  std::uint64_t bound(UserMethod method, ContributionRule rule, std::uint64_t most = 7) {
    return mean_contribution_bound({method, rule, most, pure(0.5)}, counts_);
  }

  const std::vector<UsersWithRows> histogram_ = {{1, 50}, {10, 30}, {200, 4}, {900, 1}};
  const RowsPerUser counts_{histogram_, std::pmr::new_delete_resource()};
};

TEST_F(MeanContributionBound, DependsOnTheMethodAndTheRule) {
  const std::uint64_t least_error = least_mean_error_bound(counts_, 0.5);
  const std::uint64_t concentration = array_concentration_bound(counts_);
  ASSERT_NE(least_error, concentration);
  EXPECT_EQ(bound(UserMethod::kBaseline, ContributionRule::kFixed), 900U);
  EXPECT_EQ(bound(UserMethod::kArray, ContributionRule::kOptimal), least_error);
  EXPECT_EQ(bound(UserMethod::kBounded, ContributionRule::kFixed), 7U);
  for (const UserMethod method :
       {UserMethod::kLevy, UserMethod::kQuantile, UserMethod::kQuantileAdaptive}) {
    EXPECT_EQ(bound(method, ContributionRule::kOptimal), concentration);
    EXPECT_EQ(bound(method, ContributionRule::kMedian), 1U);
    EXPECT_EQ(bound(method, ContributionRule::kFixed), 7U);
  }
  EXPECT_EQ(bound(UserMethod::kArray, ContributionRule::kMedian), 1U);
  EXPECT_EQ(bound(UserMethod::kArray, ContributionRule::kFixed), 7U);
}

TEST_F(MeanContributionBound, IsThatOfEqualNoiseUnderRho) {
  constexpr double kRho = 0.25 / std::numbers::pi;  // sqrt(pi rho) = 1/2
  const UserQuery query{UserMethod::kArray, ContributionRule::kOptimal, 0, zcdp(kRho)};
  EXPECT_EQ(mean_contribution_bound(query, counts_), least_mean_error_bound(counts_, 0.5));
  EXPECT_NE(mean_contribution_bound(query, counts_), least_mean_error_bound(counts_, kRho));
}

// The most rows of a user would tell who else is there, so 'bounded' does not read them.
TEST_F(MeanContributionBound, ExceedsTheMostRowsOnlyForBounded) {
  for (const UserMethod method : kMethods) {
    const std::uint64_t expected = method == UserMethod::kBounded ? kMost : 900;
    EXPECT_EQ(bound(method, ContributionRule::kFixed, kMost), expected);
  }
}

}  // namespace
}  // namespace dpquantile
