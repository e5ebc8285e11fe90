#include "core/privacy/integer_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/base/error.hpp"
#include "core/contributions/fixed_point.hpp"
#include "support/law_testing.hpp"

namespace dpquantile {
namespace {

double to_double(Rational value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

// The excess pays for charging the shortest decimal of epsilon.
TEST(LaplaceScale, ExceedsTheExactScaleSlightly) {
  const Rational scale = laplace_scale(12, {1, 2}, 3);
  EXPECT_GE(to_double(scale), 72 * (1 + 0x1p-41));
  EXPECT_LE(to_double(scale), 72 * (1 + 0x1p-35));
}

TEST(LaplaceScale, ExceedsTheExactScaleByLessThanAMillionth) {
  for (const double epsilon : {1e-6, 0.001, 0.1, 1.0 / 3, 1.0, 7.3, 1000.0}) {
    for (const std::uint64_t sensitivity : {1UL, 3UL, 1000003UL, 1UL << 31, (1UL << 31) + 2}) {
      for (const std::uint64_t parts : {1UL, 2UL, 14UL}) {
        const Rational rational = rational_epsilon(epsilon);
        const Rational scale = laplace_scale(sensitivity, rational, parts);
        const long double needed = static_cast<long double>(sensitivity) *
                                   static_cast<long double>(parts) *
                                   static_cast<long double>(rational.denominator) /
                                   static_cast<long double>(rational.numerator);
        const long double got =
            static_cast<long double>(scale.numerator) / static_cast<long double>(scale.denominator);
        EXPECT_GE(got, needed * (1 + 0x1p-41L)) << epsilon << " " << sensitivity;
        EXPECT_LE(got, needed * (1 + 0x1p-20L)) << epsilon << " " << sensitivity;
      }
    }
  }
}

class LaplaceMechanism : public ::testing::Test {
 protected:
  CsprngSource source_;
  RandomStream random_{source_};
};

TEST_F(LaplaceMechanism, AddsNoNoiseToAConstant) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(laplace_mechanism({17, 0}, {1, 1}, 1, random_), 17);
}

TEST_F(LaplaceMechanism, WorksForTheLargestSensitivityAndTheSmallestEpsilon) {
  EXPECT_NO_THROW(laplace_mechanism({0, FixedPoint::kOne + 2}, rational_epsilon(1e-6), 2, random_));
}

TEST_F(LaplaceMechanism, RefusesNoiseThatDoesNotFit) {
  EXPECT_THROW(laplace_mechanism({0, FixedPoint::kOne}, rational_epsilon(1e-6), 1U << 24, random_),
               ParameterError);
  EXPECT_THROW(
      laplace_mechanism({0, std::uint64_t{1} << 34}, rational_epsilon(1e-6), 1U << 24, random_),
      ParameterError);
}

TEST_F(LaplaceMechanism, FollowsTheDiscreteLaplaceLawAroundTheAnswer) {
  constexpr int kDraws = 500'000;
  constexpr int kRadius = 150;
  // Scale 3 * 2 / 2 = 3.
  const double ratio = std::exp(-1.0 / 3);
  std::vector<double> law(2 * kRadius + 1);
  std::vector<std::uint64_t> observed(law.size());
  for (int y = -kRadius; y <= kRadius; ++y) {
    law[static_cast<std::size_t>(y + kRadius)] =
        (1 - ratio) / (1 + ratio) * std::pow(ratio, std::abs(y));
  }
  for (int i = 0; i < kDraws; ++i) {
    const auto y = static_cast<int>(laplace_mechanism({1000, 3}, {2, 1}, 2, random_) - 1000);
    ASSERT_LE(std::abs(y), kRadius);  // false alarm below 500 000 * e^-50 < 10^-15
    ++observed[static_cast<std::size_t>(y + kRadius)];
  }
  EXPECT_GT(test::law_p_value(observed, law), test::kLawFalseAlarm);
}

}  // namespace
}  // namespace dpquantile
