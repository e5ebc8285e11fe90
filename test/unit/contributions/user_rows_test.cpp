#include "core/contributions/user_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "core/contributions/fixed_point.hpp"
#include "support/context_testing.hpp"
#include "support/law_testing.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile {
namespace {

using test::GroupedRows;
using test::TestWorkspace;

CancelPoll never{nullptr};

std::vector<UserRow> random_rows(std::size_t count, std::uint64_t users, std::uint32_t grids) {
  std::mt19937_64 random(7);
  std::vector<UserRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t user = (random() % users) * 0x9e3779b97f4a7c15;
    const auto value = static_cast<std::uint32_t>(random() % (FixedPoint::kOne + std::uint64_t{1}));
    rows.push_back({user, static_cast<std::uint32_t>(random() % grids), value});
  }
  return rows;
}

using Key = std::pair<std::uint64_t, std::uint32_t>;

std::map<Key, RowMoments> reference_moments(const std::vector<UserRow>& rows,
                                            Contribution contribution) {
  std::map<Key, RowMoments> moments;
  for (const UserRow& row : rows) {
    const std::uint32_t grid = contribution == Contribution::kUser ? 0 : row.grid;
    RowMoments& own = moments[{row.user, grid}];
    ++own.count;
    own.sum += row.value;
    own.squares += uint128_t{row.value} * row.value;
  }
  return moments;
}

void expect_grouped(const std::vector<UserRow>& rows, Contribution contribution) {
  const GroupedRows grouped(rows, contribution);
  const std::map<Key, RowMoments> expected = reference_moments(rows, contribution);
  ASSERT_EQ(grouped->size(), expected.size());
  std::size_t i = 0;
  for (const auto& [key, moments] : expected) {
    EXPECT_EQ(grouped->user(i), key.first);
    if (contribution == Contribution::kUserInGrid) {
      EXPECT_EQ(grouped->grid(i), key.second);
    }
    EXPECT_EQ(grouped->count(i), moments.count);
    const RowMoments kept = grouped->kept(i, moments.count, never);
    EXPECT_EQ(kept.count, moments.count);
    EXPECT_EQ(kept.sum, moments.sum);
    EXPECT_TRUE(kept.squares == moments.squares);
    ++i;
  }
}

TEST(UserRows, AreGroupedByUser) {
  for (const std::size_t count : {0U, 1U, 2U, 100U, 512U, 513U, 20'000U}) {
    expect_grouped(random_rows(count, 300, 5), Contribution::kUser);
    expect_grouped(random_rows(count, 1, 5), Contribution::kUser);
  }
}

TEST(UserRows, AreGroupedByUserAndGrid) {
  for (const std::size_t count : {0U, 1U, 100U, 512U, 513U, 20'000U}) {
    expect_grouped(random_rows(count, 50, 3000), Contribution::kUserInGrid);
    expect_grouped(random_rows(count, 1, 1), Contribution::kUserInGrid);
  }
}

TEST(UserRows, KeepTheSameValuesInAnyOrderOfRows) {
  std::vector<UserRow> rows = random_rows(5000, 40, 3);
  for (UserRow& row : rows) row.value %= 50;
  const GroupedRows grouped(rows);
  std::mt19937_64 random(1);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(rows.begin(), rows.end(), random);
    const GroupedRows shuffled(rows);
    for (std::size_t user = 0; user < grouped->size(); ++user) {
      for (const std::uint64_t most : {0U, 1U, 7U, 60U}) {
        EXPECT_EQ(grouped->kept(user, most, never).sum, shuffled->kept(user, most, never).sum);
      }
    }
  }
}

TEST(UserRows, KeepTheSameValuesWhateverOtherUsersHave) {
  const std::vector<std::uint32_t> own = {5, 9, 9, 12, 800, 3};
  const GroupedRows alone(test::UserValues{own});
  const GroupedRows among(test::UserValues{own, {7, 7, 7}, {0, 900}});
  for (std::uint64_t most = 0; most <= own.size(); ++most) {
    EXPECT_EQ(alone->kept(0, most, never).sum, among->kept(0, most, never).sum);
    EXPECT_EQ(alone->kept(0, most, never).count, most);
  }
}

TEST(UserRows, KeepMoreAsTheBoundGrows) {
  const GroupedRows grouped(random_rows(1000, 1, 1));
  std::uint64_t before = 0;
  for (std::uint64_t most = 0; most <= 1000; most += 50) {
    const RowMoments kept = grouped->kept(0, most, never);
    EXPECT_EQ(kept.count, most);
    EXPECT_GE(kept.sum, before);
    before = kept.sum;
  }
}

// Each of a user's 8 values is among the 3 kept for 3/8 of the users, at any rank.
TEST(UserRows, KeepEveryRankEquallyOften) {
  constexpr std::uint64_t kUsers = 200'000;
  std::vector<std::uint64_t> kept_with_rank(8);
  std::vector<UserRow> rows;
  for (std::uint64_t user = 0; user < kUsers; ++user) {
    for (std::uint32_t rank = 0; rank < 8; ++rank) rows.push_back({user, 0, 1U << (3 * rank)});
  }
  const GroupedRows grouped(rows);
  for (std::size_t user = 0; user < grouped->size(); ++user) {
    const std::uint64_t sum = grouped->kept(user, 3, never).sum;
    for (unsigned rank = 0; rank < 8; ++rank) kept_with_rank[rank] += (sum >> (3 * rank)) % 8;
  }
  const std::vector<double> evenly(8, 1.0 / 8);
  EXPECT_GT(test::law_p_value(kept_with_rank, evenly), test::kLawFalseAlarm);
}

TEST(UserRows, KeepEqualValuesInProportion) {
  std::vector<UserRow> rows;
  constexpr std::uint64_t kUsers = 20'000;
  for (std::uint64_t user = 0; user < kUsers; ++user) {
    for (int i = 0; i < 6; ++i) rows.push_back({user, 0, 0});
    for (int i = 0; i < 4; ++i) rows.push_back({user, 0, 1});
  }
  const GroupedRows grouped(rows);
  std::vector<std::uint64_t> ones(6);
  for (std::size_t user = 0; user < grouped->size(); ++user) {
    ++ones[as_size(grouped->kept(user, 5, never).sum)];
  }
  // Hypergeometric: 5 rows of 6 zeros and 4 ones.
  const std::vector<double> law = {6.0 / 252, 60.0 / 252, 120.0 / 252, 60.0 / 252, 6.0 / 252, 0};
  EXPECT_GT(test::law_p_value(ones, law), test::kLawFalseAlarm);
}

TEST(UserRows, AddUpWhatTheyKeepOfEachUser) {
  std::vector<UserRow> rows = random_rows(3000, 200, 1);
  const GroupedRows grouped(rows);
  for (const std::uint64_t bound : {1U, 5U, 1000U}) {
    RowMoments expected;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < grouped->size(); ++i) {
      const RowMoments own = grouped->kept(i, bound, never);
      EXPECT_EQ(own.count, std::min(grouped->count(i), bound));
      expected.add(own);
      most = std::max(most, own.count);
    }
    const KeptRows all = grouped->kept(bound, never);
    EXPECT_EQ(all.most, most);
    EXPECT_EQ(all.moments.count, expected.count);
    EXPECT_EQ(all.moments.sum, expected.sum);
    EXPECT_TRUE(all.moments.squares == expected.squares);
  }
}

TEST(UserRows, ClampValuesToTheLargestUnit) {
  const GroupedRows grouped(std::vector<UserRow>{{1, 0, 0xffffffff}});
  EXPECT_EQ(grouped->kept(0, 1, never).sum, FixedPoint::kOne);
}

TEST(UserRows, StopWhenCancelled) {
  const TestWorkspace cancelled([] { return true; });
  std::vector<UserRow> rows = random_rows(200'000, 1000, 1);
  EXPECT_THROW(UserRows(rows, Contribution::kUser, cancelled), Cancelled);
}

}  // namespace
}  // namespace dpquantile
