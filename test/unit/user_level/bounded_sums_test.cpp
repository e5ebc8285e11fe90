#include "core/user_level/bounded_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/contributions/fixed_point.hpp"
#include "support/context_testing.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile {
namespace {

using test::for_each_tuple;
using test::GroupedRows;
using test::TestContext;
using test::UserValues;

constexpr std::uint32_t kOne = FixedPoint::kOne;
const std::vector<std::uint32_t> kLevels = {0, 1, kOne / 3, kOne - 1, kOne};

CancelPoll never{nullptr};

std::uint64_t l1_distance(const BoundedSums& a, const BoundedSums& b) {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < kVarianceParts; ++i) {
    sum += std::max(a.parts[i], b.parts[i]) - std::min(a.parts[i], b.parts[i]);
  }
  return sum;
}

BoundedSums sums_of(const UserValues& data, const BoundedUnits& units) {
  return bounded_sums(*GroupedRows(data), units, never);
}

// The largest change of the sums when a user with `rows` rows is added.
std::uint64_t largest_change(const BoundedUnits& units, std::size_t rows) {
  std::uint64_t largest = 0;
  for (const UserValues& others :
       {UserValues{}, UserValues{{7}, {kOne}}, UserValues{{kOne / 2, 3, 11}}}) {
    for_each_tuple(kLevels, rows, [&](const std::vector<std::uint32_t>& values) {
      UserValues larger = others;
      larger.push_back(values);
      largest = std::max(largest, l1_distance(sums_of(others, units), sums_of(larger, units)));
    });
  }
  return largest;
}

TEST(BoundedSums, ChangeByAtMostTheirSensitivityAndReachIt) {
  for (const std::uint64_t contributions : {1U, 2U, 3U, 7U}) {
    for (std::size_t rows = 1; rows <= 4; ++rows) {
      for (const unsigned parts : {kMeanParts, kVarianceParts}) {
        const BoundedUnits units = bounded_units(parts, contributions, pure(1));
        const std::uint64_t change = largest_change(units, rows);
        EXPECT_LE(change, units.sensitivity);
        if (rows >= contributions) {
          EXPECT_GE(change, kOne - parts);
        }
      }
    }
  }
}

// The largest change of the sums when one row of a user is replaced, or added.
std::uint64_t largest_change_by_row(const BoundedUnits& units, std::size_t rows) {
  std::uint64_t largest = 0;
  for_each_tuple(kLevels, rows + 1, [&](const std::vector<std::uint32_t>& values) {
    const std::vector<std::uint32_t> others(values.begin() + 1, values.end());
    const auto sums = [&](const std::vector<std::uint32_t>& user) {
      return sums_of({{7, kOne}, user}, units);
    };
    const BoundedSums with = sums(values);
    largest = std::max(largest, l1_distance(with, sums(others)));
    for (const std::uint32_t other : kLevels) {
      std::vector<std::uint32_t> replaced = others;
      replaced.push_back(other);
      largest = std::max(largest, l1_distance(with, sums(replaced)));
    }
  });
  return largest;
}

// test/privacy/user_zcdp_privacy_test.cpp does the same under rho.
TEST(BoundedSums, ChangeByTwoRowsAtMostForOneRowAndReachIt) {
  for (const std::uint64_t contributions : {1U, 2U, 3U, 7U}) {
    for (std::size_t rows = 0; rows <= 4; ++rows) {
      for (const unsigned parts : {kMeanParts, kVarianceParts}) {
        const BoundedUnits units = bounded_units(parts, contributions, pure(1));
        const double most = units.change_by_row * static_cast<double>(units.sensitivity);
        const auto change = static_cast<double>(largest_change_by_row(units, rows));
        EXPECT_LE(change, most);
        EXPECT_GE(change, most * (1 - 1e-8)) << contributions << " " << rows;
      }
    }
  }
}

TEST(BoundedSums, OfManyContributionsHardlyChangeForOneRow) {
  const auto change = [](unsigned parts, std::uint64_t contributions,
                         const PrivacyParameter& privacy) {
    return bounded_units(parts, contributions, privacy).change_by_row;
  };
  EXPECT_LT(change(kMeanParts, 1, pure(1)), 2);
  EXPECT_NEAR(change(kMeanParts, 10, pure(1)), 0.2, 1e-8);
  EXPECT_GT(change(kVarianceParts, 0xffffffff, pure(1)), 0);
  EXPECT_LT(change(kMeanParts, 1, zcdp(1e-12)), std::sqrt(2));
  EXPECT_NEAR(change(kMeanParts, 10, zcdp(1)), std::sqrt(2) / 10, 1e-8);
  EXPECT_GT(change(kVarianceParts, 0xffffffff, zcdp(1)), 0);
}

// The sampler has room for finer units if rho is larger. Both sums are those of 1000 rows of 1/4.
TEST(BoundedSums, AreMeasuredInUnitsForTheirRho) {
  EXPECT_EQ(bounded_units(kMeanParts, 5, pure(1e-6)).bits, 31);
  EXPECT_EQ(bounded_units(kMeanParts, 5, zcdp(1000)).bits, 31);
  for (const double rho : {1e-12, 0.005, 1000.0}) {
    const BoundedUnits units = bounded_units(kVarianceParts, 4, zcdp(rho));
    const BoundedSums sums =
        sums_of(UserValues(250, {kOne / 4, kOne / 4, kOne / 4, kOne / 4}), units);
    const double row = std::ldexp(1, units.bits) / 4;
    EXPECT_NEAR(static_cast<double>(sums.parts[0]), 62.5 * row, 1);
    EXPECT_NEAR(static_cast<double>(sums.parts[1]), 375 * row, 1);
    EXPECT_NEAR(static_cast<double>(sums.parts[2]), 562.5 * row, 1);
  }
}

class BoundedRelease : public ::testing::Test {
 protected:
  TestContext context_;
};

// The noise of each sum has a scale of some 1/1000 of a row. An error of 1/1000 takes noise of more
// than a tenth of a row, which has a probability below e^-90. Under rho sigma is 0.022 rows, and an
// error of 1/1000 takes 0.7 rows.
TEST_F(BoundedRelease, IsTheMeanAndVarianceWithAlmostNoNoise) {
  UserValues data;
  for (std::uint32_t user = 0; user < 1000; ++user) data.push_back({user % 2 * kOne / 2});
  const GroupedRows rows(data);
  for (const PrivacyParameter& privacy : {pure(1000), zcdp(1000)}) {
    EXPECT_NEAR(bounded_mean(*rows, 1, privacy, context_) / double{kOne}, 0.25, 1e-3);
    EXPECT_NEAR(bounded_variance(*rows, 1, privacy, context_) / double{kOne}, 0.0625, 1e-3);
  }
}

TEST_F(BoundedRelease, StaysInRangeForOddInputs) {
  const std::vector<UserValues> odd = {
      {}, {{5}}, {std::vector<std::uint32_t>(2000, kOne)}, {{0}, {kOne}}};
  for (const UserValues& data : odd) {
    const GroupedRows rows(data);
    for (const std::uint64_t contributions : {std::uint64_t{1}, std::uint64_t{0xffffffff}}) {
      for (const PrivacyParameter& privacy :
           {pure(1e-6), pure(1), pure(1000), zcdp(1e-12), zcdp(1), zcdp(1000)}) {
        for (int i = 0; i < 20; ++i) {
          EXPECT_LE(bounded_mean(*rows, contributions, privacy, context_), kOne);
          EXPECT_LE(bounded_variance(*rows, contributions, privacy, context_), kOne / 4);
        }
      }
    }
  }
}

}  // namespace
}  // namespace dpquantile
