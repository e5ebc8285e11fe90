#include "core/moments/value_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/base/error.hpp"

namespace dpquantile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kSumOne = SumScale::kSumOne;

const std::vector<std::pair<double, double>> kBounds = {
    {0, 1}, {0, 120}, {-5, 0.1}, {-1e300, 1e300}, {1, 1 + 0x1p-20}, {-0.3, 0.7}};

TEST(ValueUnits, AreThoseOfFixedPointForEveryValue) {
  std::mt19937_64 generator(1);
  for (const auto& [lower, upper] : kBounds) {
    const FixedPoint scale = FixedPoint::create(lower, upper);
    std::uniform_real_distribution<double> place(-0.1, 1.1);
    for (int i = 0; i < 20'000; ++i) {
      const double x = lower + place(generator) * (upper - lower);
      ASSERT_EQ(value_units(scale, x), scale.units_of(x)) << x;
    }
    for (const double x : {-kInfinity, kInfinity, lower, upper, 0.0, -0.0}) {
      EXPECT_EQ(value_units(scale, x), scale.units_of(x));
    }
  }
}

TEST(RoundToNearest, RoundsHalvesAwayFromZeroAndNothingElseUp) {
  for (const double whole : {0.0, 1.0, 2.0, 0x1p30, 0x1p31 - 1, 0x1p32}) {
    for (const double x : {whole, std::nextafter(whole + 0.5, 0), whole + 0.5,
                           std::nextafter(whole + 0.5, kInfinity)}) {
      EXPECT_EQ(round_to_nearest(x), static_cast<std::uint64_t>(std::llround(x))) << x;
    }
  }
}

TEST(SumScale, CountsFromZeroInUnitsOfTheLargerBound) {
  const SumScale scale = SumScale::create(-2, 8);
  EXPECT_EQ(scale.shifted_units(0), kSumOne);
  EXPECT_EQ(scale.shifted_units(8), 2 * kSumOne);
  EXPECT_EQ(scale.shifted_units(kInfinity), 2 * kSumOne);
  EXPECT_EQ(scale.shifted_units(-2), kSumOne - kSumOne / 4);
  EXPECT_EQ(scale.shifted_units(-100), kSumOne - kSumOne / 4);
  EXPECT_EQ(scale.shifted_units(2), kSumOne + kSumOne / 4);
  EXPECT_EQ(SumScale::create(-8, 2).shifted_units(-kInfinity), 0);
  EXPECT_EQ(SumScale::create(5, 10).shifted_units(0), kSumOne + kSumOne / 2);
}

TEST(SumScale, RoundsToTheNearestUnitOnBothSidesOfZero) {
  const SumScale scale = SumScale::create(-1, 1);
  const double unit = 0x1p-32;
  EXPECT_EQ(scale.shifted_units(0.4 * unit), kSumOne);
  EXPECT_EQ(scale.shifted_units(0.6 * unit), kSumOne + 1);
  EXPECT_EQ(scale.shifted_units(-0.4 * unit), kSumOne);
  EXPECT_EQ(scale.shifted_units(-0.6 * unit), kSumOne - 1);
}

TEST(SumScale, RefusesBoundsOutOfOrder) {
  EXPECT_THROW(SumScale::create(1, 1), ParameterError);
  EXPECT_THROW(SumScale::create(0, kInfinity), ParameterError);
}

TEST(ValueSums, AreExactAndIndependentOfOrderAndPartialStates) {
  std::mt19937_64 generator(1);
  std::vector<std::uint32_t> rows(1000);
  for (auto& row : rows) row = static_cast<std::uint32_t>(generator() % (FixedPoint::kOne + 1ULL));
  ValueSums all;
  uint128_t sum = 0;
  uint128_t squares = 0;
  for (const std::uint32_t row : rows) {
    all.add(row);
    sum += row;
    squares += uint128_t{row} * row;
  }
  EXPECT_EQ(all.count, 1000);
  EXPECT_TRUE(all.sum.value() == sum);
  EXPECT_TRUE(all.squares.value() == squares);

  std::shuffle(rows.begin(), rows.end(), generator);
  ValueSums parts[3];
  for (std::size_t i = 0; i < rows.size(); ++i) parts[i % 3].add(rows[i]);
  parts[2].add(parts[0]);
  parts[2].add(parts[1]);
  EXPECT_EQ(parts[2], all);
}

// Adding the sums to themselves doubles the rows.
TEST(ValueSums, HoldTheLargestSumsOfTwoToThe63Rows) {
  ValueSums sums;
  sums.add(FixedPoint::kOne);
  for (int i = 0; i < 63; ++i) sums.add(ValueSums(sums));
  EXPECT_EQ(sums.count, std::uint64_t{1} << 63);
  EXPECT_TRUE(sums.sum.value() == uint128_t{1} << 94);
  EXPECT_TRUE(sums.squares.value() == uint128_t{1} << 125);
}

TEST(ValueSums, CarryFromTheLowWord) {
  WideSum sum;
  sum.add(~std::uint64_t{0});
  sum.add(std::uint64_t{2});
  EXPECT_TRUE(sum.value() == (uint128_t{1} << 64) + 1);
  sum.add(WideSum(sum));
  EXPECT_TRUE(sum.value() == (uint128_t{1} << 65) + 2);
}

}  // namespace
}  // namespace dpquantile
