#include "core/distinct/distinct_hashes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <random>
#include <set>
#include <vector>

#include "core/base/error.hpp"
#include "support/context_testing.hpp"
#include "support/memory_testing.hpp"

namespace dpquantile {
namespace {

using test::CountedMemory;
using test::heap;

using Hashes = std::vector<std::uint64_t>;

Hashes random_hashes(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 generator(seed);
  Hashes hashes(count);
  for (std::uint64_t& hash : hashes) hash = generator();
  return hashes;
}

Hashes sorted(const DistinctHashes& set) {
  const auto hashes = set.sorted(heap());
  return {hashes.begin(), hashes.end()};
}

DistinctHashes set_of(const Hashes& hashes) {
  DistinctHashes set(heap());
  for (const std::uint64_t hash : hashes) set.add(hash);
  return set;
}

TEST(DistinctHashes, AreEmptyAtFirst) {
  const DistinctHashes set(heap());
  EXPECT_EQ(set.size(), 0);
  EXPECT_EQ(sorted(set), Hashes{});
}

// One hash more than a number that is known must not divide a set, which takes time.
TEST(DistinctHashes, AreDividedAtANumberThatHashesDecide) {
  std::set<std::uint64_t> numbers;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    DistinctHashes set(heap());
    HashTable undivided(heap());
    for (const std::uint64_t hash : random_hashes(4097, seed)) {
      set.add(hash);
      undivided.add(hash);
      if (set.bytes() != sizeof(HashTable) + undivided.bytes()) break;
    }
    EXPECT_GT(set.size(), 1024);
    EXPECT_LT(set.size(), 4097);
    numbers.insert(set.size());
  }
  EXPECT_GT(numbers.size(), 10);
}

TEST(DistinctHashes, CountEveryHashOnce) {
  for (const std::size_t count : {1U, 12U, 13U, 14U, 4096U, 4097U, 100'000U}) {
    const Hashes hashes = random_hashes(count);
    DistinctHashes set = set_of(hashes);
    const std::set<std::uint64_t> expected(hashes.begin(), hashes.end());
    EXPECT_EQ(set.size(), expected.size());
    for (const std::uint64_t hash : hashes) set.add(hash);
    EXPECT_EQ(set.size(), expected.size());
    EXPECT_EQ(sorted(set), Hashes(expected.begin(), expected.end()));
  }
}

TEST(DistinctHashes, KeepZeroAndTheLargestHash) {
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  DistinctHashes set = set_of({largest, 0, 1, 0, largest});
  EXPECT_EQ(sorted(set), (Hashes{0, 1, largest}));
  for (const std::uint64_t hash : random_hashes(10'000)) set.add(hash);
  EXPECT_EQ(set.size(), 10'003);
  EXPECT_EQ(sorted(set).front(), 0);
  EXPECT_EQ(sorted(set).back(), largest);
}

TEST(DistinctHashes, KeepHashesThatWantTheSamePlace) {
  DistinctHashes set(heap());
  for (std::uint64_t i = 0; i < 5000; ++i) set.add(i << 56 | (i >> 8) | 0xffffffff000000);
  EXPECT_EQ(set.size(), 5000);
}

TEST(DistinctHashes, VisitEveryHashOnce) {
  const DistinctHashes set = set_of(random_hashes(9000));
  std::multiset<std::uint64_t> visited;
  set.for_each([&](std::uint64_t hash) { visited.insert(hash); });
  EXPECT_EQ(Hashes(visited.begin(), visited.end()), sorted(set));
}

TEST(DistinctHashes, OfPartialStatesAreThoseOfAllRows) {
  for (const std::size_t count : {10U, 3000U, 20'000U}) {
    const Hashes first = random_hashes(count, 1);
    const Hashes second = random_hashes(count / 2, 2);
    DistinctHashes merged = set_of(second);
    merged.add(set_of(first));
    merged.add(set_of({first.front(), 0}));
    Hashes all = first;
    all.insert(all.end(), second.begin(), second.end());
    all.push_back(0);
    EXPECT_EQ(sorted(merged), sorted(set_of(all)));
  }
}

TEST(DistinctHashes, ReadTheirSortedListAgainAndNoOther) {
  for (const std::size_t count : {0U, 100U, 10'000U}) {
    DistinctHashes set = set_of(random_hashes(count));
    set.add(std::uint64_t{0});
    const Hashes list = sorted(set);
    EXPECT_EQ(sorted(DistinctHashes(list, heap())), list);
  }
  EXPECT_THROW(DistinctHashes(Hashes{1, 3, 2}, heap()), CorruptInput);
  EXPECT_THROW(DistinctHashes(Hashes{1, 1}, heap()), CorruptInput);
}

// At most 15 bytes a hash, and 3 % more while a table grows.
TEST(DistinctHashes, TakeLittleMemoryAlsoWhileTheyGrow) {
  CountedMemory memory;
  {
    DistinctHashes set(&memory);
    std::uint64_t next = 20'000;
    for (const std::uint64_t hash : random_hashes(400'000)) {
      set.add(hash);
      if (set.size() < next) continue;
      next += next / 7;
      EXPECT_EQ(memory.used(), set.bytes());
      EXPECT_LE(static_cast<double>(memory.used()), 15.0 * static_cast<double>(set.size()));
      EXPECT_GE(static_cast<double>(memory.used()), 9.5 * static_cast<double>(set.size()));
      memory.reset_peak();
    }
    EXPECT_LE(static_cast<double>(memory.peak()), 15.0 * 1.03 * static_cast<double>(set.size()));
  }
  EXPECT_EQ(memory.used(), 0);
}

TEST(DistinctHashes, StayTheSameWhenMemoryRunsOut) {
  const Hashes hashes = random_hashes(6000);
  for (const std::size_t allocations : {1U, 2U, 5U, 20U, 30U, 200U}) {
    CountedMemory memory(allocations);
    DistinctHashes set(&memory);
    std::set<std::uint64_t> added;
    try {
      for (const std::uint64_t hash : hashes) {
        set.add(hash);
        added.insert(hash);
      }
      ADD_FAILURE() << "enough memory";
    } catch (const std::bad_alloc&) {
      EXPECT_GE(set.size(), added.size());
      EXPECT_LE(set.size(), added.size() + 1);
      const Hashes list = sorted(set);
      for (const std::uint64_t hash : added) {
        EXPECT_TRUE(std::binary_search(list.begin(), list.end(), hash));
      }
    }
  }
}

}  // namespace
}  // namespace dpquantile
