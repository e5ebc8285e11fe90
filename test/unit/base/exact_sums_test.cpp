#include "core/base/exact_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

// threats 186 and 187: the sums of one person's values are functions of the set of these.
namespace dpquantile {
namespace {

using boost::multiprecision::cpp_int;

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr int kUnit = -1074;

// A double in units of 2^-1074
cpp_int units_of(double x) {
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  const int shift = exponent - 53 - kUnit;
  return shift >= 0 ? cpp_int(mantissa) * (cpp_int(1) << shift) : cpp_int(mantissa >> -shift);
}

// Rounds half to even, as IEEE 754 does.
ScaledDouble rounded(const cpp_int& number, int bits, int unit) {
  if (number == 0) return {0, 0};
  cpp_int magnitude = abs(number);
  const auto length = static_cast<int>(msb(magnitude)) + 1;
  const int dropped = std::max(length - bits, 0);
  cpp_int kept = magnitude >> dropped;
  const cpp_int rest = magnitude - (kept << dropped);
  const cpp_int half = dropped > 0 ? cpp_int(1) << (dropped - 1) : cpp_int(1);
  if (rest > half || (rest == half && dropped > 0 && (kept & 1) != 0)) ++kept;
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(kept), &exponent);
  return {number < 0 ? -mantissa : mantissa, exponent + dropped + unit};
}

void expect_same(const ScaledDouble& found, const ScaledDouble& expected) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(found.mantissa),
            std::bit_cast<std::uint64_t>(expected.mantissa));
  EXPECT_EQ(found.exponent, expected.exponent);
}

// Finite doubles of all exponents, those at the ends of the range, and many that are close.
std::vector<double> adversarial_values(std::mt19937_64& random, std::size_t count) {
  const double ends[] = {0.0,
                         -0.0,
                         kLeast,
                         -kLeast,
                         kLargest,
                         -kLargest,
                         1e308,
                         -1e308,
                         1.0,
                         -1.0,
                         0x1p-1022,
                         -0x1p-1022,
                         0x1p53,
                         0x1p-53,
                         0.1,
                         -0.1,
                         0x1.fffffffffffffp-1023};
  std::vector<double> values;
  while (values.size() < count) {
    const auto bits = random();
    if (bits % 3 == 0) {
      values.push_back(ends[bits / 3 % std::size(ends)]);
    } else if (bits % 3 == 1 && !values.empty()) {
      values.push_back(-values[bits / 3 % values.size()]);
    } else if (const auto any = std::bit_cast<double>(random()); std::isfinite(any)) {
      values.push_back(any);
    }
  }
  return values;
}

TEST(ExactSums, EqualsIntegersOfAnyLengthInEveryOrder) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> values = adversarial_values(random, 1 + trial % 40);
    cpp_int sum = 0;
    cpp_int squares = 0;
    for (const double x : values) {
      sum += units_of(x);
      squares += units_of(x) * units_of(x);
    }
    const cpp_int deviations = cpp_int(values.size()) * squares - sum * sum;
    for (int order = 0; order < 3; ++order) {
      std::ranges::shuffle(values, random);
      ExactSums sums;
      for (const double x : values) sums.add(x);
      EXPECT_EQ(sums.count(), values.size());
      expect_same(sums.sum().rounded(53), rounded(sum, 53, kUnit));
      expect_same(sums.sum().rounded(24), rounded(sum, 24, kUnit));
      expect_same(sums.deviations_times_count(), rounded(deviations, 53, 2 * kUnit));
    }
  }
}

// Doubles of some 58 binary orders of magnitude, somewhere in the range of all.
std::vector<double> values_of_one_kind(std::mt19937_64& random, std::size_t count) {
  constexpr int kOrders = 58;
  const int least = static_cast<int>(random() % (2046 + 52)) - 1074 - 52;
  std::vector<double> values;
  while (values.size() < count) {
    const auto mantissa = static_cast<double>((random() >> 11) | std::uint64_t{1} << 52);
    const int exponent = least + static_cast<int>(random() % (kOrders + 1));
    const double x = std::ldexp(random() % 5 == 0 ? 0x1p52 : mantissa, exponent);
    if (std::isfinite(x)) values.push_back(random() % 2 == 0 ? x : -x);
    if (random() % 10 == 0) values.push_back(random() % 2 == 0 ? 0.0 : -0.0);
  }
  return values;
}

TEST(NarrowSums, EqualExactSumsWhileThereIsRoom) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    NarrowSum narrow;
    NarrowSums narrow_sums;
    ExactSums exact;
    for (const double x : values_of_one_kind(random, 1 + trial % 40)) {
      ASSERT_TRUE(narrow.try_add(x));
      ASSERT_TRUE(narrow_sums.try_add(x));
      exact.add(x);
      expect_same(narrow.rounded(53), exact.sum().rounded(53));
      expect_same(narrow.rounded(24), exact.sum().rounded(24));
      expect_same(narrow_sums.deviations_times_count(), exact.deviations_times_count());
    }
  }
}

TEST(NarrowSums, AreWidenedWhenThereIsNone) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    NarrowSum narrow;
    NarrowSums narrow_sums;
    ExactSums exact;
    for (const double x : adversarial_values(random, 1 + trial % 40)) {
      ExactSum wide = narrow.widened();
      ExactSums wide_sums = narrow_sums.widened();
      const bool is_added = narrow.try_add(x);
      EXPECT_EQ(narrow_sums.try_add(x), is_added);
      if (is_added) exact.add(x);
      if (is_added) wide.add(x);
      if (is_added) wide_sums.add(x);
      expect_same(narrow.rounded(53), exact.sum().rounded(53));
      expect_same(wide.rounded(53), exact.sum().rounded(53));
      expect_same(wide_sums.sum().rounded(53), exact.sum().rounded(53));
      EXPECT_EQ(wide_sums.count(), exact.count());
      expect_same(wide_sums.deviations_times_count(), exact.deviations_times_count());
    }
  }
}

TEST(NarrowSums, HaveRoomFor111BitsInEveryOrder) {
  for (const double sign : {1.0, -1.0}) {
    NarrowSums rising;
    EXPECT_TRUE(rising.try_add(sign));
    EXPECT_TRUE(rising.try_add(sign * 0x1.fffffffffffffp58));
    EXPECT_FALSE(rising.try_add(sign * 0x1p59));
    EXPECT_FALSE(rising.try_add(0.5));
    EXPECT_TRUE(rising.try_add(0.0));
    NarrowSums falling;
    EXPECT_TRUE(falling.try_add(sign * 0x1.fffffffffffffp58));
    EXPECT_TRUE(falling.try_add(sign));
    EXPECT_FALSE(falling.try_add(0.5));
    EXPECT_FALSE(falling.try_add(sign * 0x1p59));
  }
}

TEST(NarrowSums, HaveRoomFor2To16Values) {
  constexpr double kMost = 0x1.fffffffffffffp58;
  for (const double sign : {1.0, -1.0}) {
    NarrowSums narrow;
    ExactSums exact;
    for (int i = 0; i < 1 << 16; ++i) {
      const double x = sign * (i == 0 ? 1 : kMost);
      ASSERT_TRUE(narrow.try_add(x));
      exact.add(x);
    }
    EXPECT_FALSE(narrow.try_add(sign));
    expect_same(narrow.deviations_times_count(), exact.deviations_times_count());
    expect_same(narrow.widened().sum().rounded(53), exact.sum().rounded(53));
  }
}

TEST(ExactSums, CarriesThroughAllDigits) {
  ExactSum sum;
  for (int i = 0; i < 4; ++i) {
    sum.add(kLargest);
    sum.add(-kLeast);
    EXPECT_GT(sum.rounded(53).value(), 1e308);
    sum.add(-kLargest);
    EXPECT_EQ(sum.rounded(53).value(), -kLeast);
    sum.add(kLeast);
    EXPECT_FALSE(std::signbit(sum.rounded(53).value()));
    EXPECT_EQ(sum.rounded(53).value(), 0);
  }
  for (int i = 0; i < 1000; ++i) sum.add(kLargest);
  EXPECT_EQ(sum.rounded(53).value(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(sum.rounded(53).divided_by(1000).value(), kLargest);
}

TEST(ExactSums, MinusZeroIsZero) {
  ExactSum sum;
  sum.add(-0.0);
  EXPECT_FALSE(std::signbit(sum.rounded(53).value()));
}

TEST(ScaledDoubles, HaveValuesAndRootsWithinTheRangeOfDoubles) {
  EXPECT_EQ((ScaledDouble{0.5, 1}.value()), 1);
  EXPECT_EQ((ScaledDouble{0.5, 3}.square_root()), 2);
  EXPECT_EQ((ScaledDouble{0.5, -3}.square_root()), 0.25);
  EXPECT_EQ((ScaledDouble{0.5, 2001}.square_root()), 0x1p1000);
  EXPECT_EQ((ScaledDouble{0, 0}.square_root()), 0);
  EXPECT_EQ((ScaledDouble{0.75, 1025}.value()), std::numeric_limits<double>::infinity());
  EXPECT_EQ((ScaledDouble{0.75, 2}.divided_by(3).value()), 1);
  EXPECT_EQ((ScaledDouble{0, 0}.divided_by(3).exponent), 0);
}

}  // namespace
}  // namespace dpquantile
