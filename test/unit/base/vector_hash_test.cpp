#include "core/base/vector_hash.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>

namespace dpquantile {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

VectorHash hash_of(const VectorHashFactors& first, const VectorHashFactors& second,
                   std::uint64_t number) {
  VectorHasher hasher(first);
  hasher.add(second, number);
  return hasher.hash();
}

// first + factor * number modulo 2^128, of which the high half is the hash
TEST(VectorHash, IsTheHighHalfOfTheSum) {
  EXPECT_EQ(hash_of({{0, 0}, {0, 0}}, {{1, 0}, {2, 0}}, 5), (VectorHash{5, 10}));
  EXPECT_EQ(hash_of({{7, 0}, {8, 0}}, {{0, 0}, {0, 0}}, 5), (VectorHash{7, 8}));
  // (2^64 - 1)^2 = 2^128 - 2^65 + 1
  EXPECT_EQ(hash_of({{0, 0}, {0, 0}}, {{0, kLargest}, {0, 1}}, kLargest),
            (VectorHash{kLargest - 1, 0}));
  // A carry out of the low half; a high half that wraps around
  EXPECT_EQ(hash_of({{1, kLargest}, {kLargest, kLargest}}, {{0, 1}, {0, 1}}, 1),
            (VectorHash{2, 0}));
}

// The hashes of two numbers are independent: among 64 pairs of their highest three bits each is as
// likely. 6400 keys give 100 on average; 40 or fewer and 170 or more have a probability below 2e-9
// each (Chernoff), below 1e-6 for all pairs and both halves.
TEST(VectorHash, OfTwoVectorsAreIndependent) {
  std::mt19937_64 generator(1);
  std::uint64_t high[64] = {};
  std::uint64_t low[64] = {};
  for (int key = 0; key < 6400; ++key) {
    VectorHashFactors factors[2];
    for (VectorHashFactors& own : factors) {
      for (int i = 0; i < 2; ++i) {
        own.of_high[i] = generator();
        own.of_low[i] = generator();
      }
    }
    const VectorHash one = hash_of(factors[0], factors[1], 6);
    const VectorHash other = hash_of(factors[0], factors[1], 7);
    ++high[one.high >> 61U << 3U | other.high >> 61U];
    ++low[one.low >> 61U << 3U | other.low >> 61U];
  }
  for (int i = 0; i < 64; ++i) {
    EXPECT_GT(high[i], 40U);
    EXPECT_LT(high[i], 170U);
    EXPECT_GT(low[i], 40U);
    EXPECT_LT(low[i], 170U);
  }
}

TEST(Scattered, GivesEachNumberAnotherOne) {
  std::set<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 10000; ++i) numbers.insert(scattered(i));
  EXPECT_EQ(numbers.size(), 10000U);
  EXPECT_EQ(scattered(1), 0xb456bcfc34c2cb2cU);  // as in the author's code
}

}  // namespace
}  // namespace dpquantile
