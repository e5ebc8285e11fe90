#include "core/user_level/bounded_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
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

using SumsOf = BoundedSums (*)(const UserRows&, std::uint64_t, CancelPoll&);

// The largest change of the sums when a user with `rows` rows is added.
std::uint64_t largest_change(SumsOf sums_of, std::size_t rows, std::uint64_t contributions) {
  std::uint64_t largest = 0;
  for (const UserValues& others :
       {UserValues{}, UserValues{{7}, {kOne}}, UserValues{{kOne / 2, 3, 11}}}) {
    for_each_tuple(kLevels, rows, [&](const std::vector<std::uint32_t>& values) {
      UserValues larger = others;
      larger.push_back(values);
      largest = std::max(largest, l1_distance(sums_of(*GroupedRows(others), contributions, never),
                                              sums_of(*GroupedRows(larger), contributions, never)));
    });
  }
  return largest;
}

TEST(BoundedSums, ChangeByAtMostTheirSensitivityAndReachIt) {
  for (const std::uint64_t contributions : {1U, 2U, 3U, 7U}) {
    for (std::size_t rows = 1; rows <= 4; ++rows) {
      const std::uint64_t mean = largest_change(bounded_mean_sums, rows, contributions);
      const std::uint64_t variance = largest_change(bounded_variance_sums, rows, contributions);
      EXPECT_LE(mean, bounded_sensitivity(kMeanParts));
      EXPECT_LE(variance, bounded_sensitivity(kVarianceParts));
      if (rows < contributions) continue;
      EXPECT_GE(mean, kOne - 2);
      EXPECT_GE(variance, kOne - 3);
    }
  }
}

// The largest change of the sums when one row of a user is replaced, or added.
std::uint64_t largest_change_by_row(SumsOf sums_of, std::size_t rows, std::uint64_t contributions) {
  std::uint64_t largest = 0;
  for_each_tuple(kLevels, rows + 1, [&](const std::vector<std::uint32_t>& values) {
    const std::vector<std::uint32_t> others(values.begin() + 1, values.end());
    const auto sums = [&](const std::vector<std::uint32_t>& user) {
      return sums_of(*GroupedRows({{7, kOne}, user}), contributions, never);
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

TEST(BoundedSums, ChangeByTwoRowsAtMostForOneRowAndReachIt) {
  for (const std::uint64_t contributions : {1U, 2U, 3U, 7U}) {
    for (std::size_t rows = 0; rows <= 4; ++rows) {
      for (const auto& [sums_of, parts] :
           {std::pair<SumsOf, unsigned>{bounded_mean_sums, kMeanParts},
            {bounded_variance_sums, kVarianceParts}}) {
        const double most = bounded_change_by_row(parts, contributions) *
                            static_cast<double>(bounded_sensitivity(parts));
        const auto change =
            static_cast<double>(largest_change_by_row(sums_of, rows, contributions));
        EXPECT_LE(change, most);
        EXPECT_GE(change, most * (1 - 1e-8)) << contributions << " " << rows;
      }
    }
  }
}

TEST(BoundedSums, OfManyContributionsHardlyChangeForOneRow) {
  EXPECT_LT(bounded_change_by_row(kMeanParts, 1), 2);
  EXPECT_NEAR(bounded_change_by_row(kMeanParts, 10), 0.2, 1e-8);
  EXPECT_GT(bounded_change_by_row(kVarianceParts, 0xffffffff), 0);
}

class BoundedRelease : public ::testing::Test {
 protected:
  TestContext context_;
};

// The noise of each sum has a scale of some 1/1000 of a row. An error of 1/1000 takes noise of more
// than a tenth of a row, which has a probability below e^-90.
TEST_F(BoundedRelease, IsTheMeanAndVarianceWithAlmostNoNoise) {
  UserValues data;
  for (std::uint32_t user = 0; user < 1000; ++user) data.push_back({user % 2 * kOne / 2});
  const GroupedRows rows(data);
  EXPECT_NEAR(bounded_mean(*rows, 1, 1000, context_) / double{kOne}, 0.25, 1e-3);
  EXPECT_NEAR(bounded_variance(*rows, 1, 1000, context_) / double{kOne}, 0.0625, 1e-3);
}

TEST_F(BoundedRelease, StaysInRangeForOddInputs) {
  const std::vector<UserValues> odd = {
      {}, {{5}}, {std::vector<std::uint32_t>(2000, kOne)}, {{0}, {kOne}}};
  for (const UserValues& data : odd) {
    const GroupedRows rows(data);
    for (const std::uint64_t contributions : {std::uint64_t{1}, std::uint64_t{0xffffffff}}) {
      for (const double epsilon : {1e-6, 1.0, 1000.0}) {
        for (int i = 0; i < 20; ++i) {
          EXPECT_LE(bounded_mean(*rows, contributions, epsilon, context_), kOne);
          EXPECT_LE(bounded_variance(*rows, contributions, epsilon, context_), kOne / 4);
        }
      }
    }
  }
}

}  // namespace
}  // namespace dpquantile
