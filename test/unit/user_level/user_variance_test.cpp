#include "core/user_level/user_variance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "core/contributions/fixed_point.hpp"
#include "support/context_testing.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile {
namespace {

using test::for_each_tuple;
using test::GroupedRows;
using test::heap;
using test::TestContext;
using test::UserValues;

constexpr std::uint32_t kOne = FixedPoint::kOne;

RowMoments moments_of(const std::vector<std::uint32_t>& values) {
  RowMoments moments;
  for (const std::uint32_t value : values) moments.add(value);
  return moments;
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

// All values are extreme before, and extreme or interior after, for every number of rows up to 7
// and every share of the user.
TEST(VarianceQuery, ChangesByAtMostItsSensitivityAndReachesIt) {
  for (std::size_t all = 1; all <= 7; ++all) {
    for (std::size_t own = 1; own <= all; ++own) {
      std::uint64_t largest = 0;
      std::uint64_t sensitivity = 0;
      for_each_tuple({0, kOne}, all, [&](const std::vector<std::uint32_t>& values) {
        const IntegerQuery before = variance_query(moments_of(values), own);
        sensitivity = before.sensitivity;
        for_each_tuple({0, kOne / 3, kOne}, own, [&](const std::vector<std::uint32_t>& replaced) {
          std::vector<std::uint32_t> neighbour = values;
          std::copy(replaced.begin(), replaced.end(), neighbour.begin());
          const IntegerQuery after = variance_query(moments_of(neighbour), own);
          ASSERT_EQ(after.sensitivity, before.sensitivity);
          ASSERT_LE(distance(before.answer, after.answer), before.sensitivity);
          largest = std::max(largest, distance(before.answer, after.answer));
        });
      });
      EXPECT_GE(largest + 1, sensitivity) << all << " rows, " << own << " of the user";
    }
  }
}

TEST(VarianceQuery, IsThePopulationVariance) {
  EXPECT_EQ(variance_query(moments_of({0, kOne}), 1).answer, kOne / 4U);
  EXPECT_EQ(variance_query(moments_of({0, kOne / 2}), 1).answer, kOne / 16U);
  EXPECT_EQ(variance_query(moments_of({9, 9, 9}), 1).answer, 0U);
  EXPECT_EQ(variance_query(moments_of({kOne, 0, 0, 0}), 1).answer, kOne / 16U * 3);
}

TEST(VarianceQuery, IsExactForTheMostRows) {
  constexpr std::uint64_t kRows = 0xfffffffe;
  const RowMoments half_and_half{kRows, kRows / 2 * kOne, uint128_t{kRows / 2} * kOne * kOne};
  EXPECT_EQ(variance_query(half_and_half, 1).answer, kOne / 4U);
  const RowMoments equal{kRows, kRows * kOne, uint128_t{kRows} * kOne * kOne};
  EXPECT_EQ(variance_query(equal, 1).answer, 0U);
}

// The least and the largest guarantees, and one between.
const PrivacyParameter kGuarantees[] = {pure(1e-6),  pure(1), pure(1000),
                                        zcdp(1e-12), zcdp(1), zcdp(1000)};

class UserVariance : public ::testing::Test {
 protected:
  static UserQuery query(UserMethod method, const PrivacyParameter& privacy) {
    const bool bounded = method == UserMethod::kBounded;
    return {method, bounded ? ContributionRule::kFixed : ContributionRule::kOptimal, 3, privacy};
  }
  std::uint32_t draw(const UserValues& data, UserMethod method, const PrivacyParameter& privacy) {
    return user_variance(*GroupedRows(data), query(method, privacy), context_);
  }

  static constexpr UserMethod kMethods[] = {UserMethod::kBaseline, UserMethod::kArray,
                                            UserMethod::kBounded};
  TestContext context_;
};

TEST_F(UserVariance, StaysInRangeForOddInputs) {
  const std::vector<UserValues> odd = {
      {}, {{5}}, {{0, kOne, 7}}, {{kOne}, {kOne}}, {std::vector<std::uint32_t>(3000, kOne), {0}}};
  for (const UserValues& data : odd) {
    for (const UserMethod method : kMethods) {
      for (const PrivacyParameter& privacy : kGuarantees) {
        for (int i = 0; i < 20; ++i) EXPECT_LE(draw(data, method, privacy), kOne / 4);
      }
    }
  }
}

TEST_F(UserVariance, IsZeroForOneRow) {
  for (const std::uint32_t value : {0U, 12345U, kOne}) {
    EXPECT_EQ(draw({{value}}, UserMethod::kArray, pure(0.001)), 0U);
    EXPECT_EQ(draw({{value}}, UserMethod::kBaseline, pure(0.001)), 0U);
  }
}

// The noise has scale 1/4 / 1000 and goes further than 1/16 with probability e^-250.
TEST_F(UserVariance, IsANoisyMiddleWithoutRows) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_NEAR(draw({}, UserMethod::kArray, pure(1000)) / double{kOne}, 0.125, 0.0625);
  }
}

// With epsilon = 1000 the noise of 2000 rows reaches 1 / 1000 with probability e^-900 or less.
TEST_F(UserVariance, IsAccurateWithAlmostNoNoise) {
  const UserValues data(1000, {kOne / 4, kOne / 4 * 3});
  for (const UserMethod method : kMethods) {
    EXPECT_NEAR(draw(data, method, pure(1000)) / double{kOne}, 0.0625, 0.002);
  }
}

TEST_F(UserVariance, ChoosesTheBoundForTheVariance) {
  const std::vector<UsersWithRows> histogram = {{1, 50}, {10, 30}, {200, 4}, {900, 1}};
  const RowsPerUser counts(histogram, heap());
  EXPECT_EQ(variance_contribution_bound(query(UserMethod::kArray, pure(0.5)), counts),
            least_variance_error_bound(counts, 0.5));
  EXPECT_EQ(variance_contribution_bound(query(UserMethod::kBaseline, pure(0.5)), counts), 900U);
}

TEST_F(UserVariance, RefusesMethodsThatClipArrays) {
  for (const UserMethod method :
       {UserMethod::kLevy, UserMethod::kQuantile, UserMethod::kQuantileAdaptive}) {
    EXPECT_THROW(draw({{1}}, method, pure(1)), ParameterError);
  }
  EXPECT_THROW(draw({{1}}, UserMethod::kArray, pure(0)), ParameterError);
}

}  // namespace
}  // namespace dpquantile
