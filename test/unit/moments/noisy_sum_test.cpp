#include "core/moments/noisy_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "support/confidence.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::lower_confidence_bound;
using test::TestContext;

// The false-alarm probability of one check of a coverage. There are 8.
constexpr double kFalseAlarm = 1e-9;
constexpr std::uint64_t kDraws = 3000;

Estimate sum_of(const std::vector<double>& rows, double lower, double upper,
                const PrivacyParameter& privacy, RandomStream& random) {
  const SumScale scale = SumScale::create(lower, upper);
  ValueSums sums;
  for (const double row : rows) sums.add_shifted(scale.shifted_units(row));
  return release_sum(sums, scale, privacy, random);
}

TEST(NoisySum, IsTheSumOfTheClampedValues) {
  TestContext context;
  for (const PrivacyParameter& privacy : {pure(1000), zcdp(1000)}) {
    EXPECT_NEAR(sum_of({1, 2, -7, 100}, -5, 10, privacy, context.random).value, 8, 1);
    EXPECT_NEAR(sum_of({-1, -2}, -5, 10, privacy, context.random).value, -3, 1);
  }
}

// The sums of two rows, in the units that are released, differ by at most the change, and by that
// for the two bounds.
TEST(NoisySum, ChangesByTheDifferenceOfTheBoundsIfAValueIsReplaced) {
  const auto change = [](double lower, double upper, const PrivacyParameter& privacy) {
    return largest_change_of_sum(SumScale::create(lower, upper), privacy);
  };
  for (const PrivacyParameter& privacy : {pure(0.5), zcdp(0.5)}) {
    EXPECT_EQ(change(-1, 1, privacy), 2);
    EXPECT_EQ(change(-1, 2, privacy), 1.5);
    EXPECT_EQ(change(-4, 1, privacy), 1.25);
    EXPECT_EQ(change(0, 120, privacy), 1);
    EXPECT_EQ(change(100, 120, privacy), 1);
    EXPECT_EQ(change(-120, -100, privacy), 1);
  }
  const SumScale third = SumScale::create(-1, 3);
  const double units = static_cast<double>(third.shifted_units(9) - third.shifted_units(-9));
  EXPECT_EQ(change(-1, 3, pure(1)), units / static_cast<double>(SumScale::kSumOne));
  // In the coarser units of a small rho the change is rounded up.
  EXPECT_GE(change(-1, 3, zcdp(1e-12)), 4.0 / 3);
  EXPECT_LE(change(-1, 3, zcdp(1e-12)), 4.0 / 3 + 0x1p-10);
}

// The noise of a sum has a mean of 0 and a deviation of sqrt(2) scales, so that the mean of 4000
// sums lies beyond 0.15 scales with a probability below 1e-9. Sums that are cut off at 0 have a
// mean of half a scale.
TEST(NoisySum, IsWithoutBiasWhateverItsSign) {
  TestContext context;
  constexpr int kSums = 4000;
  double positive = 0;
  double negative = 0;
  for (int i = 0; i < kSums; ++i) {
    positive += sum_of({3}, 0, 10, pure(0.01), context.random).value / kSums;
    negative += sum_of({-3}, -10, -1, pure(0.01), context.random).value / kSums;
  }
  EXPECT_NEAR(positive, 3, 150);
  EXPECT_NEAR(negative, -3, 150);
}

TEST(NoisySum, IsFinite) {
  TestContext context;
  constexpr double kHuge = 1e308;
  for (int i = 0; i < 200; ++i) {
    const Estimate huge = sum_of({kHuge, kHuge}, 0, kHuge, pure(1e-6), context.random);
    EXPECT_TRUE(std::isfinite(huge.value) && std::isfinite(huge.error));
  }
}

TEST(NoisySum, IsWithinItsErrorNineteenTimesOfTwenty) {
  TestContext context;
  for (const PrivacyParameter& privacy : {pure(1e-6), pure(1), zcdp(1e-12), zcdp(0.5)}) {
    for (const auto& [lower, upper] : {std::pair{-5.0, 2.0}, {0.0, 120.0}}) {
      std::uint64_t missed = 0;
      for (std::uint64_t i = 0; i < kDraws; ++i) {
        const Estimate sum = sum_of({1, 1, 0.5}, lower, upper, privacy, context.random);
        missed += std::abs(sum.value - 2.5) > sum.error;
      }
      EXPECT_LE(lower_confidence_bound(missed, kDraws, kFalseAlarm), 0.05);
    }
  }
}

// P(|noise| <= error) must not be far above 95 % either: 3.0 scales, or 1.96 sigmas.
TEST(NoisySum, HasNoWiderErrorThanItNeeds) {
  TestContext context;
  EXPECT_NEAR(sum_of({}, -5, 2, pure(1), context.random).error, 5 * std::log(20), 0.01);
  EXPECT_NEAR(sum_of({}, -5, 2, zcdp(0.5), context.random).error, 5 * 1.96, 0.01);
}

TEST(NoisySum, RefusesAGuaranteeOutOfRange) {
  TestContext context;
  EXPECT_THROW(sum_of({}, 0, 1, pure(0), context.random), ParameterError);
  EXPECT_THROW(sum_of({}, 0, 1, zcdp(1e-13), context.random), ParameterError);
}

}  // namespace
}  // namespace dpquantile
