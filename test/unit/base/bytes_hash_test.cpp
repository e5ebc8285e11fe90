#include "core/base/bytes_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dpquantile {
namespace {

BytesHashKey random_key(unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uint64_t secrets[sizeof(BytesHashKey) / sizeof(std::uint64_t)];
  for (std::uint64_t& secret : secrets) secret = generator();
  BytesHashKey key;
  std::memcpy(&key, secrets, sizeof key);
  return key;
}

std::uint64_t hash_of(const BytesHashKey& key, const std::vector<std::uint8_t>& bytes) {
  return hash_of_bytes(key, bytes);
}

// 100 sizes, some of which are hashed with SipHash
constexpr std::size_t kSizes = 100;

TEST(BytesHash, OfEqualBytesIsEqualWhereverTheyAre) {
  const BytesHashKey key = random_key(1);
  for (std::size_t size = 0; size < kSizes; ++size) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(3 * i + 1);
    const std::uint64_t hash = hash_of(key, bytes);
    for (std::size_t offset = 0; offset < 8; ++offset) {
      std::vector<std::uint8_t> around(size + 16, 0xa5);
      std::copy(bytes.begin(), bytes.end(), around.begin() + static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(hash_of_bytes(key, {around.data() + offset, size}), hash);
    }
  }
}

// 10^5 hashes: two are equal with a probability below 3e-10.
TEST(BytesHash, DependsOnEachByteAndTheSize) {
  const BytesHashKey key = random_key(2);
  std::set<std::uint64_t> hashes;
  std::size_t count = 0;
  for (std::size_t size = 0; size < kSizes; ++size) {
    std::vector<std::uint8_t> bytes(size);
    hashes.insert(hash_of(key, bytes));
    ++count;
    for (std::uint8_t& byte : bytes) {
      for (const int value : {1, 2, 128, 255}) {
        byte = static_cast<std::uint8_t>(value);
        hashes.insert(hash_of(key, bytes));
        ++count;
      }
      byte = 0;
    }
  }
  EXPECT_EQ(hashes.size(), count);
}

TEST(BytesHash, TellsIdsApart) {
  const BytesHashKey key = random_key(3);
  std::set<std::uint64_t> hashes;
  for (int i = 0; i < 20000; ++i) {
    const std::string id = "patient " + std::to_string(i);
    hashes.insert(hash_of(key, {id.begin(), id.end()}));
  }
  EXPECT_EQ(hashes.size(), 20000U);
}

// The hash is that of a vector, so the difference of two hashes is uniform over the keys: among 8
// values of the highest three bits each is as likely, whatever the two strings are. 6400 keys give
// 800 on average; 600 or fewer and 1000 or more have a probability below 1e-10 each (Chernoff).
TEST(BytesHash, DependsOnTheKey) {
  const std::vector<std::pair<std::size_t, std::size_t>> sizes = {{0, 1},   {3, 3},   {7, 8},
                                                                  {13, 13}, {64, 65}, {90, 90}};
  for (const auto& [first, second] : sizes) {
    std::vector<std::uint8_t> one(first);
    std::vector<std::uint8_t> other(second);
    other.back() = 1;
    std::size_t counts[8] = {};
    for (unsigned seed = 0; seed < 6400; ++seed) {
      const BytesHashKey key = random_key(seed);
      ++counts[(hash_of(key, one) - hash_of(key, other)) >> 61U];
    }
    for (const std::size_t count : counts) {
      EXPECT_GT(count, 600U);
      EXPECT_LT(count, 1000U);
    }
  }
}

}  // namespace
}  // namespace dpquantile
