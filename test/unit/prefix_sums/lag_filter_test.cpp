#include "core/prefix_sums/lag_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace dpquantile {
namespace {

using Lags = std::vector<std::uint32_t>;
using Coefficients = std::vector<std::int64_t>;

// The filters are stable: their inverses do not grow.
std::vector<LagFilter> filters() {
  return {
      {{0}, {1}},
      {{0}, {1024}},
      {{0, 1}, {16, -8}},
      {{0, 7, 8, 9}, {10, -1, 3, -2}},
      {{0, 1, 2, 3, 5, 8, 13, 21}, {64, -32, -8, -4, -3, -2, -2, 1}},
  };
}

std::vector<std::uint64_t> random_values(std::size_t size) {
  std::mt19937_64 random(size);
  std::vector<std::uint64_t> values(size);
  for (auto& value : values) value = random() >> 34;
  return values;
}

std::vector<std::uint64_t> filtered(const LagFilter& filter,
                                    const std::vector<std::uint64_t>& values) {
  std::vector<std::uint64_t> result(values.size());
  filter.apply(values, result);
  return result;
}

constexpr std::size_t kSizes[] = {1, 2, 7, 8, 9, 16, 30, 100};

TEST(LagFilter, SumsUpEarlierValues) {
  EXPECT_EQ(filtered({{0, 1, 3}, {5, -2, 1}}, {10, 20, 30, 40}),
            (std::vector<std::uint64_t>{50, 80, 110, 150}));
}

TEST(LagFilter, WrapsModulo64Bits) {
  const std::vector<std::uint64_t> values = {std::uint64_t{1} << 63, 1};
  EXPECT_EQ(filtered({{0, 1}, {2, -1}}, values),
            (std::vector<std::uint64_t>{0, (std::uint64_t{1} << 63) + 2}));
}

TEST(LagFilter, IsInverted) {
  for (const LagFilter& filter : filters()) {
    for (const std::size_t size : kSizes) {
      const auto values = random_values(size);
      std::vector<double> inverted;
      for (const std::uint64_t value : filtered(filter, values)) {
        inverted.push_back(static_cast<double>(static_cast<std::int64_t>(value)));
      }
      filter.invert(inverted);
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_NEAR(inverted[i], static_cast<double>(values[i]), 1e-3) << size << " " << i;
      }
    }
  }
}

// <invert(x), y> = <x, invert_transposed(y)> for unit vectors.
TEST(LagFilter, HasATransposedInverse) {
  constexpr std::size_t kSize = 30;
  for (const LagFilter& filter : filters()) {
    for (std::size_t column = 0; column < kSize; ++column) {
      std::vector<double> forth(kSize);
      forth[column] = 1;
      filter.invert(forth);
      for (std::size_t row = 0; row < kSize; ++row) {
        std::vector<double> back(kSize);
        back[row] = 1;
        filter.invert_transposed(back);
        ASSERT_NEAR(back[column], forth[row], 1e-15) << row << " " << column;
      }
    }
  }
}

TEST(LagFilter, RefusesFiltersWithoutInverse) {
  EXPECT_THROW(LagFilter({}, {}), std::invalid_argument);
  EXPECT_THROW(LagFilter({0, 1}, {1}), std::invalid_argument);
  EXPECT_THROW(LagFilter({1}, {1}), std::invalid_argument);
  EXPECT_THROW(LagFilter({0}, {0}), std::invalid_argument);
  EXPECT_THROW(LagFilter({0, 2, 2}, {1, 1, 1}), std::invalid_argument);
  EXPECT_THROW(LagFilter({0, 2, 1}, {1, 1, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace dpquantile
