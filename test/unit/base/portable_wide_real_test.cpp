#include "core/base/portable_wide_real.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_dec_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <random>

namespace dpquantile {
namespace {

// Decimal arithmetic of 80 digits, which shares no code with PortableWideReal.
using Exact = boost::multiprecision::number<boost::multiprecision::cpp_dec_float<80>,
                                            boost::multiprecision::et_off>;

// docs/privacy.md, "Floating point", needs 2^-62.
const Exact kMostError = ldexp(Exact(1), -90);

void expect_near(const PortableWideReal& computed, const Exact& exact) {
  EXPECT_LE(fabs(Exact(computed) - exact), kMostError * fabs(exact));
}

// The arguments of a joint draw: from -50000, the most that is proposed, to 16 and almost 0.
TEST(PortableWideReal, HasExponentials) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> log_argument(-30, std::log(60'000));
  for (int i = 0; i < 1000; ++i) {
    const double argument = std::exp(log_argument(random));
    expect_near(exp(PortableWideReal(-argument)), exp(Exact(-argument)));
    if (argument < 20) expect_near(exp(PortableWideReal(argument)), exp(Exact(argument)));
  }
  EXPECT_EQ(exp(PortableWideReal(0)), 1);
}

TEST(PortableWideReal, HasLogarithms) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> logarithm(-50'000, 50'000);
  for (int i = 0; i < 200; ++i) {
    const PortableWideReal number = exp(PortableWideReal(logarithm(random)));
    expect_near(log(number), log(Exact(number)));
  }
}

// Sums, products and quotients of 53-bit numbers with exponents of every size, against integers.
TEST(PortableWideReal, RoundsSumsProductsAndQuotients) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const Exact a = ldexp(Exact(random() >> 11), static_cast<int>(random() % 100));
    const Exact b = ldexp(Exact((random() >> 11) + 1), -static_cast<int>(random() % 100));
    const PortableWideReal x(a);
    const PortableWideReal y(b);
    expect_near(x + y, a + b);
    expect_near(x * y, a * b);
    expect_near(x / y, a / b);
  }
}

// 128 quantiles in slots of 2^-56 of the interval, and factors down to e^-50000.
TEST(PortableWideReal, RepresentsPowersOfTheLeastMeasure) {
  PortableWideReal power = exp(PortableWideReal(-50'000));
  for (int i = 0; i < 128; ++i) power *= 0x1p-56;
  EXPECT_EQ(ilogb(power), ilogb(exp(PortableWideReal(-50'000))) - 128 * 56);
  EXPECT_EQ(ldexp(power, 128 * 56), exp(PortableWideReal(-50'000)));
}

}  // namespace
}  // namespace dpquantile
