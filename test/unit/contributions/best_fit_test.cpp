#include "core/contributions/best_fit.hpp"
#include "core/base/as_size.hpp"
#include "support/context_testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace dpquantile {
namespace {

using Rows = std::vector<std::uint64_t>;

Packing pack(const Rows& rows, std::uint64_t capacity) {
  return best_fit(rows, capacity, test::TestWorkspace());
}

// The fills of all arrays, in ascending order.
Rows fills(const Rows& rows, const Packing& packing) {
  Rows fills(packing.fills.size());
  for (std::size_t user = 0; user < rows.size(); ++user) {
    fills.at(packing.array_of[user]) += rows[user];
  }
  EXPECT_TRUE(std::equal(fills.begin(), fills.end(), packing.fills.begin()));
  std::sort(fills.begin(), fills.end());
  return fills;
}

// Looks through all arrays for the fullest one with room.
Rows naive_fills(Rows rows, std::uint64_t capacity) {
  std::sort(rows.begin(), rows.end(), std::greater<>());
  Rows fills;
  for (const std::uint64_t own : rows) {
    auto fullest = fills.end();
    for (auto fill = fills.begin(); fill != fills.end(); ++fill) {
      if (*fill + own <= capacity && (fullest == fills.end() || *fill > *fullest)) fullest = fill;
    }
    if (fullest == fills.end()) {
      fills.push_back(own);
    } else {
      *fullest += own;
    }
  }
  std::sort(fills.begin(), fills.end());
  return fills;
}

TEST(BestFit, AgreesWithTheNaiveSearch) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t capacity = 1 + random() % 40;
    Rows rows(as_size(random() % 200));
    for (std::uint64_t& own : rows) own = 1 + random() % capacity;
    EXPECT_EQ(fills(rows, pack(rows, capacity)), naive_fills(rows, capacity));
  }
}

TEST(BestFit, UsesAtMostTwiceTheArraysThatTheRowsFill) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t capacity = 1 + random() % 40;
    Rows rows(as_size(1 + random() % 200));
    for (std::uint64_t& own : rows) own = 1 + random() % capacity;
    const std::uint64_t sum = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
    const Packing packing = pack(rows, capacity);
    EXPECT_GE(packing.fills.size(), sum / capacity);
    EXPECT_LE(packing.fills.size(), 2 * sum / capacity + 1);
    for (const std::uint64_t fill : fills(rows, packing)) EXPECT_LE(fill, capacity);
  }
}

TEST(BestFit, GivesUsersOfFullLengthTheirOwnArray) {
  const Packing packing = pack({5, 5, 5}, 5);
  EXPECT_EQ(packing.fills.size(), 3U);
}

TEST(BestFit, PrefersTheFullestArray) {
  // 7 and 5 get an array each; 4 joins the 5, and 3 fills up the 7.
  EXPECT_EQ(fills({7, 5, 3, 4}, pack({7, 5, 3, 4}, 10)), (Rows{9, 10}));
}

TEST(BestFit, UsesNoArrayWithoutUsers) {
  EXPECT_TRUE(pack({}, 3).fills.empty());
}

TEST(BestFit, IsDeterministic) {
  const Packing one = pack({3, 1, 2, 2, 1, 3}, 4);
  const Packing other = pack({3, 1, 2, 2, 1, 3}, 4);
  EXPECT_EQ(one.array_of, other.array_of);
}

}  // namespace
}  // namespace dpquantile
