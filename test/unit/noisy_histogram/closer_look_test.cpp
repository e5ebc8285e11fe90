#include "core/noisy_histogram/closer_look.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/base/error.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::TestContext;

using Counts = std::vector<std::uint64_t>;
using Values = std::vector<double>;

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr OrdinalGrid kNumbers(3, -123, 1024);
constexpr OrdinalGrid kDays(6, 13, 31);
constexpr AllValues kAllNumbers{-kLargest, kLargest, 0x1p-115};
constexpr AllValues kAllDays{-2451545, 2145031948, 8};
// There is noise in any cell of either look with a probability below 1e-38.
constexpr double kHardlyAnyNoise = 400;

struct Learned {
  std::optional<LearnedBounds> bounds;
  bool is_close;
};

Learned learned(const OrdinalGrid& grid, const AllValues& all, const Values& values,
                double epsilon) {
  const TestContext context;
  Counts counts(grid.cells());
  for (const double value : values) ++counts[grid.cell_of(value)];
  const FirstLook first = look_for_bounds(grid, counts, epsilon, all, context);
  if (!first.closer) return {first.bounds, false};
  EXPECT_FALSE(first.bounds);
  Counts closer(first.closer->grid.cells());
  for (const double value : values) ++closer[first.closer->cell_of(value)];
  return {look_closer(*first.closer, closer, epsilon, context), true};
}

Values uniform(std::size_t n, double lower, double upper) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> value(lower, upper);
  Values values(n);
  for (double& each : values) each = value(random);
  return values;
}

Values whole(Values values) {
  for (double& value : values) value = std::floor(value);
  return values;
}

// Four weeks of 2026: a cell of the grid of days has 128 of them.
TEST(CloserLook, FitsDaysThatAreFarFromTheirEpoch) {
  const auto [bounds, is_close] =
      learned(kDays, kAllDays, whole(uniform(10'000, 9497, 9525)), kHardlyAnyNoise);
  ASSERT_TRUE(bounds);
  EXPECT_TRUE(is_close);
  EXPECT_LE(bounds->lower, 9497);
  EXPECT_GE(bounds->upper, 9524);
  EXPECT_LT(bounds->upper - bounds->lower, 36);
}

TEST(CloserLook, FitsNumbersThatAreFarFromZero) {
  const auto [bounds, is_close] =
      learned(kNumbers, kAllNumbers, uniform(10'000, -1.7672e9, -1.7648e9), kHardlyAnyNoise);
  ASSERT_TRUE(bounds);
  EXPECT_TRUE(is_close);
  EXPECT_LE(bounds->lower, -1.7671e9);
  EXPECT_GE(bounds->upper, -1.7649e9);
  EXPECT_LT(bounds->upper - bounds->lower, 1.2e7);
}

// Ages, amounts, zeros, days of many years: what all of epsilon finds.
TEST(CloserLook, IsNotTakenAtARangeOfManyCells) {
  Counts counts(kNumbers.cells());
  for (const Values& values : {uniform(1000, 18, 90), uniform(1000, -5, 5), uniform(1000, 4e4, 9e4),
                               Values(1000, 0.0), Values(1000, 1e-40)}) {
    std::ranges::fill(counts, 0);
    for (const double value : values) ++counts[kNumbers.cell_of(value)];
    const std::vector<std::int64_t> noisy(counts.begin(), counts.end());
    const auto [bounds, is_close] = learned(kNumbers, kAllNumbers, values, kHardlyAnyNoise);
    EXPECT_FALSE(is_close);
    EXPECT_EQ(bounds,
              bounds_of_noisy_counts(kNumbers, noisy, {PrivacyMeasure::kPure, 1 / kHardlyAnyNoise},
                                     test::heap()));
  }
  EXPECT_FALSE(learned(kDays, kAllDays, uniform(1000, -9000, 9000), kHardlyAnyNoise).is_close);
}

// A few whole numbers are as near to each other as they can be, and no value of a type is beyond
// its end.
TEST(CloserLook, IsNotTakenAtFewValuesOfTheType) {
  const AllValues integers{-0x1p31, 0x1p31 - 1, 8};
  EXPECT_FALSE(learned(kNumbers, integers, Values(1000, 5), kHardlyAnyNoise).is_close);
  EXPECT_FALSE(learned(kNumbers, integers, Values(1000, -0x1p31), kHardlyAnyNoise).is_close);
  EXPECT_TRUE(learned(kNumbers, integers, Values(1000, 1000), kHardlyAnyNoise).is_close);
}

// A quarter of epsilon takes 120 values, and all of it 30. That the noise of a quarter makes 120 of
// 60 has a probability below 2e-7.
TEST(CloserLook, NeedsMoreValuesThanBoundsDo) {
  const Learned few = learned(kNumbers, kAllNumbers, Values(60, 1000), 1);
  ASSERT_TRUE(few.bounds);
  EXPECT_FALSE(few.is_close);
  EXPECT_FALSE(learned(kNumbers, kAllNumbers, {}, 1).bounds);
}

// How often noise makes enough values of too few. With the declared parts 37 and 27 of 800 runs are
// expected, and with a part that is a fifth off fewer than one, or nearly all. The probability of a
// false alarm is below 1e-7.
TEST(CloserLook, HasItsPartsOfEpsilon) {
  constexpr OrdinalGrid kSmall(0, 0, 1);
  const CloserLook look{kSmall, 0, {-1, 1}};
  const TestContext context;
  int first = 0;
  int second = 0;
  for (int i = 0; i < 800; ++i) {
    const AllValues all{-2, 2, 0};
    first += look_for_bounds(kSmall, Counts{0, 0, 110, 0}, 1, all, context).closer.has_value();
    second += look_closer(look, Counts{0, 0, 36, 0}, 1, context) != look.found;
  }
  EXPECT_GT(first, 5);
  EXPECT_LT(first, 150);
  EXPECT_GT(second, 3);
  EXPECT_LT(second, 150);
}

TEST(CloserLook, HasBoundsOfFiniteNumbersThatDiffer) {
  for (const double value : {1e-30, -1.0, 1e9, -1e200, kLargest, -kLargest}) {
    const auto [bounds, is_close] = learned(kNumbers, kAllNumbers, Values(1000, value), 1);
    ASSERT_TRUE(bounds) << value;
    EXPECT_LT(bounds->lower, bounds->upper);
    EXPECT_LE(bounds->lower, value);
    EXPECT_GE(bounds->upper, value);
    EXPECT_TRUE(std::isfinite(bounds->lower) && std::isfinite(bounds->upper));
  }
}

// Values that are everywhere else too rare for a bound: the range of the first look stays.
TEST(CloserLook, KeepsTheRangeOfTheFirstLookIfItFindsNothing) {
  const TestContext context;
  const CloserLook look{OrdinalGrid(5, 7, 31), 9500, {9436, 9564}};
  EXPECT_EQ(look_closer(look, Counts(look.grid.cells()), 1, context), look.found);
}

TEST(CloserLook, RefusesAnEpsilonOutOfRangeAndStopsWhenCancelled) {
  EXPECT_THROW(learned(kNumbers, kAllNumbers, {}, 0), ParameterError);
  CsprngSource source;
  const TestContext cancelled(source, [] { return true; });
  const Counts counts(200'000);
  EXPECT_THROW(look_for_bounds(OrdinalGrid(6, 0, 1000), counts, 1, kAllNumbers, cancelled),
               Cancelled);
  const CloserLook look{OrdinalGrid(6, 0, 1000), 0, {0, 1}};
  EXPECT_THROW(look_closer(look, counts, 1, cancelled), Cancelled);
}

}  // namespace
}  // namespace dpquantile
