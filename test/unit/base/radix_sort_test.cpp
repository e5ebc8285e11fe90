#include "core/base/radix_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory_resource>
#include <new>
#include <random>
#include <vector>

#include "core/base/error.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::TestWorkspace;

using Keys = std::vector<std::uint32_t>;

constexpr std::uint64_t kWholeRange = std::uint64_t{1} << 32;

// Bounds around one, two and three digits, and around powers of two.
const std::vector<std::uint64_t> kBounds = {1,
                                            2,
                                            3,
                                            255,
                                            2047,
                                            2048,
                                            2049,
                                            1U << 20,
                                            1U << 21,
                                            1U << 22,
                                            (1U << 22) + 1,
                                            1U << 31,
                                            (1U << 31) + 1,
                                            kWholeRange - 1,
                                            kWholeRange};

// Sizes on both sides of the largest size that another algorithm sorts.
const std::vector<std::size_t> kSizes = {0, 1, 2, 100, 255, 256, 257, 1000, 70'000};

Keys random_keys(std::size_t size, std::uint64_t bound) {
  std::mt19937_64 random(size + bound);
  std::uniform_int_distribution<std::uint32_t> uniform(0, static_cast<std::uint32_t>(bound - 1));
  Keys keys(size);
  for (std::uint32_t& key : keys) key = uniform(random);
  return keys;
}

void sort(Keys& keys, std::uint64_t bound) {
  radix_sort(keys, bound, TestWorkspace());
}

void expect_sorted_like_std_sort(Keys keys, std::uint64_t bound) {
  Keys expected = keys;
  std::sort(expected.begin(), expected.end());
  sort(keys, bound);
  EXPECT_EQ(keys, expected) << keys.size() << " keys below " << bound;
}

TEST(RadixSort, SortsRandomKeysOfEverySizeAndBound) {
  for (const std::size_t size : kSizes) {
    for (const std::uint64_t bound : kBounds) {
      expect_sorted_like_std_sort(random_keys(size, bound), bound);
    }
  }
}

TEST(RadixSort, SortsKeysInAscendingAndDescendingOrder) {
  for (const std::uint64_t bound : kBounds) {
    Keys keys = random_keys(1000, bound);
    std::sort(keys.begin(), keys.end());
    expect_sorted_like_std_sort(keys, bound);
    std::sort(keys.begin(), keys.end(), std::greater<>());
    expect_sorted_like_std_sort(keys, bound);
  }
}

TEST(RadixSort, SortsTheLowestAndHighestKeysOfEveryBound) {
  for (const std::uint64_t bound : kBounds) {
    Keys keys(999, static_cast<std::uint32_t>(bound - 1));
    expect_sorted_like_std_sort(keys, bound);
    for (std::size_t i = 0; i < keys.size(); i += 2) keys[i] = 0;
    expect_sorted_like_std_sort(keys, bound);
  }
}

TEST(RadixSort, SortsKeysThatDifferInOneBit) {
  Keys keys;
  for (unsigned bit = 0; bit < 32; ++bit) {
    for (int i = 0; i < 20; ++i) keys.push_back(1U << (31 - bit));
    for (int i = 0; i < 20; ++i) keys.push_back(~(1U << bit));
  }
  expect_sorted_like_std_sort(keys, kWholeRange);
}

TEST(RadixSort, StopsWhenCancelled) {
  const TestWorkspace cancelled([] { return true; });
  Keys keys = random_keys(100'000, 100);
  EXPECT_THROW(radix_sort(keys, 100, cancelled), Cancelled);
}

TEST(RadixSort, ThrowsWhenMemoryRunsOut) {
  const TestWorkspace no_memory(nullptr, std::pmr::null_memory_resource());
  Keys keys = random_keys(1000, 100);
  EXPECT_THROW(radix_sort(keys, 100, no_memory), std::bad_alloc);
}

// --- Doubles -------------------------------------------------------------------------------------

using Values = std::vector<double>;

void sort(Values& values) {
  radix_sort(values, TestWorkspace());
}

// Compares the bits, because zeros of both signs are equal.
void expect_bits(const Values& values, const Values& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(values[i]), std::bit_cast<std::uint64_t>(expected[i]))
        << values[i] << " " << expected[i];
  }
}

// Doubles of every sign and exponent, but no NaNs.
Values random_values(std::size_t size) {
  std::mt19937_64 random(size);
  Values values(size);
  for (double& value : values) {
    do {
      value = std::bit_cast<double>(random());
    } while (value != value);
  }
  return values;
}

TEST(RadixSortOfDoubles, SortsEverySize) {
  for (const std::size_t size : kSizes) {
    Values values = random_values(size);
    Values expected = values;
    std::sort(expected.begin(), expected.end());
    sort(values);
    expect_bits(values, expected);
  }
}

TEST(RadixSortOfDoubles, OrdersZerosSubnormalsAndInfinities) {
  using Limits = std::numeric_limits<double>;
  const Values ascending = {-Limits::infinity(),
                            -Limits::max(),
                            -1e300,
                            -1,
                            -Limits::min(),
                            -Limits::denorm_min(),
                            -0.0,
                            0.0,
                            Limits::denorm_min(),
                            Limits::min(),
                            1,
                            1 + Limits::epsilon(),
                            1e300,
                            Limits::max(),
                            Limits::infinity()};
  for (const std::size_t copies : {1U, 100U}) {
    Values expected;
    for (const double value : ascending) expected.insert(expected.end(), copies, value);
    Values values(expected.rbegin(), expected.rend());
    sort(values);
    expect_bits(values, expected);
  }
}

TEST(RadixSortOfDoubles, StopsWhenCancelled) {
  const TestWorkspace cancelled([] { return true; });
  Values values = random_values(100'000);
  EXPECT_THROW(radix_sort(values, cancelled), Cancelled);
}

TEST(RadixSortOfDoubles, ThrowsWhenMemoryRunsOut) {
  const TestWorkspace no_memory(nullptr, std::pmr::null_memory_resource());
  Values values = random_values(1000);
  EXPECT_THROW(radix_sort(values, no_memory), std::bad_alloc);
}

}  // namespace
}  // namespace dpquantile
