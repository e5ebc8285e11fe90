#include "core/base/decimal_format.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>

namespace dpquantile {
namespace {

TEST(ShortestDecimal, HasNoMoreDigitsThanNeeded) {
  EXPECT_EQ(shortest_decimal(0), "0");
  EXPECT_EQ(shortest_decimal(1), "1");
  EXPECT_EQ(shortest_decimal(-2.5), "-2.5");
  EXPECT_EQ(shortest_decimal(0.1), "0.1");
  EXPECT_EQ(shortest_decimal(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(shortest_decimal(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(shortest_decimal(4294967296), "4294967296");
}

TEST(ShortestDecimal, UsesAnExponentWhereThatIsShorter) {
  EXPECT_EQ(shortest_decimal(1e-6), "1e-06");
  EXPECT_EQ(shortest_decimal(1e22), "1e+22");
  EXPECT_EQ(shortest_decimal(-1.5e300), "-1.5e+300");
}

TEST(ShortestDecimal, PrintsTheLargestAndSmallestNumbers) {
  using Limits = std::numeric_limits<double>;
  EXPECT_EQ(shortest_decimal(Limits::max()), "1.7976931348623157e+308");
  EXPECT_EQ(shortest_decimal(Limits::lowest()), "-1.7976931348623157e+308");
  EXPECT_EQ(shortest_decimal(Limits::min()), "2.2250738585072014e-308");
  EXPECT_EQ(shortest_decimal(Limits::denorm_min()), "5e-324");
  EXPECT_EQ(shortest_decimal(-0.0), "-0");
}

TEST(ShortestDecimal, SpellsInfinityAndNaNAsPostgresqlDoes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(shortest_decimal(kInfinity), "Infinity");
  EXPECT_EQ(shortest_decimal(-kInfinity), "-Infinity");
  EXPECT_EQ(shortest_decimal(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(shortest_decimal(-std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(ShortestDecimal, ReadsBackAsTheSameNumber) {
  std::mt19937_64 bits(1);
  for (int i = 0; i < 100'000; ++i) {
    const double value = std::bit_cast<double>(std::uint64_t{bits()});
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(std::strtod(shortest_decimal(value).c_str(), nullptr), value);
  }
}

TEST(RoundToPlaces, RemovesRoundingErrors) {
  EXPECT_NE(-100 + 10396 * 0.01, 3.96);
  EXPECT_EQ(round_to_places(-100 + 10396 * 0.01, 12), 3.96);
  EXPECT_EQ(round_to_places(0.1 + 0.2, 15), 0.3);
  EXPECT_EQ(round_to_places(-0.1 - 0.2, 15), -0.3);
}

TEST(RoundToPlaces, AcceptsAllPlacesAndMagnitudes) {
  EXPECT_EQ(round_to_places(2.6, 0), 3);
  EXPECT_EQ(round_to_places(-2.6, 0), -3);
  EXPECT_EQ(round_to_places(1e-300, 300), 1e-300);
  EXPECT_EQ(round_to_places(1e-301, 300), 0);
  EXPECT_EQ(round_to_places(999999999999999, 300), 999999999999999);
}

TEST(DecimalOfStep, IsTheDecimalThatTheUserMeans) {
  EXPECT_EQ(decimal_of_step(-100 + 10396 * 0.01, 0.01, 100), 3.96);
  EXPECT_NE(3 * 0.1, 0.3);
  EXPECT_EQ(decimal_of_step(3 * 0.1, 0.1, 3 * 0.1), 0.3);
}

TEST(DecimalOfStep, KeepsValuesThatFifteenDigitsDoNotTellApart) {
  EXPECT_EQ(decimal_of_step(1e20 + 65536, 16384, 1e20), 1e20 + 65536);
  EXPECT_EQ(decimal_of_step(1 + 0x1p-52, 0x1p-52, 1), 1 + 0x1p-52);
}

TEST(DecimalOfStep, KeepsNumbersNearTheEndsOfTheRange) {
  EXPECT_EQ(decimal_of_step(0, 1, 0), 0);
  EXPECT_EQ(decimal_of_step(5e-324, 5e-324, 5e-324), 5e-324);
  EXPECT_EQ(decimal_of_step(1e308, 1e300, 1e308), 1e308);
}

}  // namespace
}  // namespace dpquantile
