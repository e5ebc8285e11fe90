#include "core/contributions/limited_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::TestWorkspace;

using Rows = std::vector<HashedRow>;

// A row by its user and the number of its values.
using Row = std::pair<std::uint64_t, std::uint8_t>;

// The hashes under one of many keys.
Rows hashed(const std::vector<Row>& rows, std::uint8_t key = 0) {
  Rows hashes;
  for (const auto& [user, values] : rows) {
    const std::uint8_t message[] = {values};
    hashes.push_back({sip_hash_of_number({key, 1}, user), sip_hash_128({key, 2}, message)});
  }
  return hashes;
}

const SipKey kKey{1, 2, 3};

std::vector<std::uint8_t> kept_of(const Rows& rows, std::uint64_t most, const SipKey& key = kKey) {
  TestWorkspace work;
  std::vector<std::uint8_t> kept(rows.size(), 7);
  limit_rows(rows, most, key, kept, work);
  return kept;
}

// How often each row is kept.
std::map<Row, std::uint64_t> kept_rows(const std::vector<Row>& rows, std::uint64_t most,
                                       std::uint8_t key = 0) {
  const std::vector<std::uint8_t> kept = kept_of(hashed(rows, key), most, {key, 3});
  std::map<Row, std::uint64_t> counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (kept[i] != 0) ++counts[rows[i]];
  }
  return counts;
}

std::map<std::uint64_t, std::uint64_t> by_user(const std::map<Row, std::uint64_t>& kept) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& [row, count] : kept) counts[row.first] += count;
  return counts;
}

// User u has u rows, some of them twice, in a mixed order.
std::vector<Row> some_rows(std::uint64_t users) {
  std::vector<Row> rows;
  for (std::uint64_t user = 1; user <= users; ++user) {
    for (std::uint64_t i = 0; i < user; ++i) {
      rows.emplace_back(user, static_cast<std::uint8_t>(i % 7 + i / 10));
    }
  }
  std::mt19937_64 generator(users);
  std::shuffle(rows.begin(), rows.end(), generator);
  return rows;
}

// One row more for a user would make the claimed epsilon wrong (threat 78).
TEST(LimitedRows, LeaveEachUserTheLimitAndNoRowMore) {
  const std::vector<Row> rows = some_rows(40);
  for (const std::uint64_t most : {1U, 2U, 3U, 20U, 39U, 40U, 100U}) {
    const auto kept = by_user(kept_rows(rows, most));
    ASSERT_EQ(kept.size(), 40U);
    for (const auto& [user, count] : kept) EXPECT_EQ(count, std::min(user, most)) << user;
  }
}

TEST(LimitedRows, DoNotDependOnTheOrderOfTheRows) {
  std::vector<Row> rows = some_rows(30);
  const auto kept = kept_rows(rows, 4);
  std::mt19937_64 generator(1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(rows.begin(), rows.end(), generator);
    EXPECT_EQ(kept_rows(rows, 4), kept);
  }
}

// The sensitivity: for every key, a user more brings at most `most` rows and changes nobody else's.
TEST(LimitedRows, OfAUserDependOnTheUsersOwnRowsAlone) {
  const std::vector<Row> others = some_rows(25);
  for (std::uint8_t key = 0; key < 20; ++key) {
    for (const std::uint64_t most : {1U, 3U, 10U}) {
      std::vector<Row> larger = others;
      for (std::uint8_t i = 0; i < 30; ++i) larger.insert(larger.begin() + 5 * i, {1000, i});
      auto kept = kept_rows(larger, most, key);
      std::erase_if(kept, [](const auto& row) { return row.first.first == 1000; });
      EXPECT_EQ(kept, kept_rows(others, most, key));
    }
  }
}

// A value of one row that is replaced replaces at most one row among those that are kept.
TEST(LimitedRows, ChangeByOneRowIfOneRowIsReplaced) {
  std::uint64_t replaced = 0;
  for (std::uint8_t key = 0; key < 20; ++key) {
    for (std::uint8_t value = 0; value < 12; ++value) {
      std::vector<Row> rows = some_rows(12);
      const auto before = kept_rows(rows, 3, key);
      const auto place = std::ranges::find(rows, Row{12, 3});
      *place = {12, value};
      const auto after = kept_rows(rows, 3, key);
      std::uint64_t lost = 0;
      for (const auto& [row, count] : before) {
        const auto found = after.find(row);
        const std::uint64_t left = found == after.end() ? 0 : found->second;
        lost += count - std::min(count, left);
      }
      EXPECT_LE(lost, 1U);
      replaced += lost;
    }
  }
  EXPECT_GT(replaced, 0U);
}

// With another key other rows are kept: nobody can choose which.
TEST(LimitedRows, AreChosenByTheKey) {
  std::vector<Row> rows;
  for (std::uint8_t i = 0; i < 10; ++i) rows.emplace_back(1, i);
  std::map<Row, std::uint64_t> chosen;
  for (std::uint8_t key = 0; key < 200; ++key) {
    for (const auto& [row, count] : kept_rows(rows, 1, key)) chosen[row] += count;
  }
  EXPECT_EQ(chosen.size(), 10U);
}

// Rows with one hash are the same for the query. As many are kept as there is room for.
TEST(LimitedRows, CountEqualRowsAsOftenAsTheyAre) {
  EXPECT_EQ(kept_rows({{1, 5}, {1, 5}, {1, 5}}, 2), (std::map<Row, std::uint64_t>{{{1, 5}, 2}}));
}

// A row that is there a hundred times is seen a hundred times as often as one that is there once.
TEST(LimitedRows, AreARandomSample) {
  std::vector<Row> rows(99, {1, 5});
  rows.emplace_back(1, 6);
  std::uint64_t rare = 0;
  for (std::uint8_t key = 0; key < 250; ++key) {
    for (const auto& [row, count] : kept_rows(rows, 10, key)) rare += row.second == 6 ? count : 0;
  }
  // 25 on average
  EXPECT_GT(rare, 8U);
  EXPECT_LT(rare, 50U);
}

// Hashes that agree in the bits by which they are sorted first
TEST(LimitedRows, TellUsersApartByAllBitsOfTheirHashes) {
  Rows rows;
  for (std::uint64_t i = 0; i < 300; ++i) {
    rows.push_back({(i % 3) << 40U | 1U, {i, 0}});
    rows.push_back({(i % 3) << 63U | 2U, {i, 0}});
  }
  std::map<std::uint64_t, std::uint64_t> counts;
  const std::vector<std::uint8_t> kept = kept_of(rows, 5);
  for (std::size_t i = 0; i < rows.size(); ++i) counts[rows[i].user] += kept[i];
  EXPECT_EQ(counts.size(), 5U);
  for (const auto& [user, count] : counts) EXPECT_EQ(count, 5U) << user;
}

TEST(LimitedRows, MayBeNone) {
  EXPECT_TRUE(kept_of({}, 1).empty());
}

TEST(LimitedRows, CanBeCancelled) {
  TestWorkspace work([] { return true; });
  const Rows rows(1U << 20U);
  std::vector<std::uint8_t> kept(rows.size());
  EXPECT_THROW(limit_rows(rows, 1, kKey, kept, work), Cancelled);
}

TEST(LimitedRows, ReportThatMemoryIsShort) {
  TestWorkspace work(nullptr, std::pmr::null_memory_resource());
  const Rows rows(2);
  std::vector<std::uint8_t> kept(rows.size());
  EXPECT_THROW(limit_rows(rows, 1, kKey, kept, work), std::bad_alloc);
}

}  // namespace
}  // namespace dpquantile
