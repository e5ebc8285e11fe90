#include "core/privacy/privacy_parameter.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/error.hpp"

namespace dpquantile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Argument argument_of_error(const PrivacyParameter& privacy) {
  try {
    check_privacy_parameter(privacy);
  } catch (const ParameterError& error) {
    return error.argument();
  }
  ADD_FAILURE() << "no error";
  return Argument::kNone;
}

// Epsilon has a place among the arguments of a call, rho is an option.
TEST(PrivacyParameterTest, AnErrorNamesTheArgument) {
  EXPECT_EQ(argument_of_error(pure(0)), Argument::kEpsilon);
  EXPECT_EQ(argument_of_error(zcdp(0)), Argument::kNone);
}

// threat 27: the amount that is used is the one that is charged.
TEST(StatedAmountTest, ReadsAFloatAsItsShortestDecimal) {
  EXPECT_EQ(stated_amount(0.1F), 0.1);
  EXPECT_EQ(stated_amount(0.7F), 0.7);
  EXPECT_EQ(stated_amount(1e-6F), 1e-6);
  EXPECT_EQ(stated_amount(1e-9F), 1e-9);
  EXPECT_EQ(stated_amount(3.3F), 3.3);
  EXPECT_EQ(stated_amount(-0.1F), -0.1);
}

TEST(StatedAmountTest, ReadsEveryDecimalOfSixDigitsBack) {
  for (int digits = 1; digits < 1000000; ++digits) {
    const double written = digits / 1e4;
    ASSERT_EQ(stated_amount(static_cast<float>(written)), written);
  }
}

TEST(StatedAmountTest, KeepsDoublesThatAreNoFloats) {
  for (const double amount :
       {0.1, 0.7, 1e-6, 1.0 / 3, 0.10000000149011611, 1e-300, 1e308, 5e-324}) {
    EXPECT_EQ(stated_amount(amount), amount);
  }
}

TEST(StatedAmountTest, KeepsShortBinaryFractions) {
  for (const double amount : {0.0, 0.5, 0.25, 0.375, 1.0, 2.0, 1000.0, 1048576.0}) {
    EXPECT_EQ(stated_amount(amount), amount);
  }
}

TEST(StatedAmountTest, KeepsWhatIsNotFinite) {
  EXPECT_EQ(stated_amount(kInfinity), kInfinity);
  EXPECT_EQ(stated_amount(-kInfinity), -kInfinity);
  EXPECT_TRUE(std::isnan(stated_amount(std::numeric_limits<double>::quiet_NaN())));
}

// Every 1009th positive normal float.
TEST(StatedAmountTest, ChangesAFloatByLessThanHalfItsSpacingAndOnlyOnce) {
  constexpr std::uint32_t kFirst = 0x00800000;
  constexpr std::uint32_t kLast = 0x7F7FFFFF;
  for (std::uint32_t bits = kFirst; bits < kLast; bits += 1009) {
    const double given = std::bit_cast<float>(bits);
    const double stated = stated_amount(given);
    ASSERT_LE(std::abs(stated - given), 0x1p-24 * given) << given;
    ASSERT_EQ(stated_amount(stated), stated) << given;
  }
}

}  // namespace
}  // namespace dpquantile
