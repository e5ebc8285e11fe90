#include "core/privacy/noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/int128.hpp"
#include "core/privacy/random.hpp"
#include "support/chi_square.hpp"
#include "support/noise_testing.hpp"
#include "support/random_testing.hpp"

// Every statistical check has the false-alarm probability kFalseAlarm (see chi_square.hpp).
namespace dpquantile {
namespace {

using test::expect_parameter_error;
using test::FailingSource;
using test::GaussianLaw;
using test::inverse;
using test::kFalseAlarm;
using test::kNoiseDraws;
using test::laplace_probability;
using test::magnitude_p_value;
using test::mean_magnitude_p_value;
using test::noise_p_value;
using test::sampled_p_value;
using test::ScriptedSource;
using test::sign_p_value;
using test::to_double;

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kScaleLimit = std::uint64_t{1} << 56;

class NoiseTest : public ::testing::Test {
 protected:
  CsprngSource source_;
  RandomStream random_{source_};
};

using BernoulliExp = NoiseTest;
using DiscreteLaplace = NoiseTest;
using DiscreteGaussian = NoiseTest;

// --- epsilon -------------------------------------------------------------------------------------

TEST(RationalEpsilon, IsExactForShortBinaryFractions) {
  const auto expect = [](double epsilon, std::uint64_t numerator, std::uint64_t denominator) {
    const Rational rational = rational_epsilon(epsilon);
    EXPECT_EQ(rational.numerator, numerator) << epsilon;
    EXPECT_EQ(rational.denominator, denominator) << epsilon;
  };
  expect(1, 1, 1);
  expect(0.75, 3, 4);
  expect(2.5, 5, 2);
  expect(0x1p10, 1024, 1);
  expect(0x1p-30, 1, std::uint64_t{1} << 30);
}

// The denominators are powers of two, so every step of the comparison is exact.
TEST(RationalEpsilon, IsNeverLargerAndCloserThanTwoToTheMinus22) {
  for (double epsilon = 0x1p-30; epsilon <= 0x1p10; epsilon *= 1.000976) {
    for (const double near : {epsilon, std::nextafter(epsilon, 1.0)}) {
      const Rational rational = rational_epsilon(near);
      const double numerator = static_cast<double>(rational.numerator);
      const double wanted = near * static_cast<double>(rational.denominator);
      ASSERT_LE(numerator, wanted) << near;
      ASSERT_GE(numerator, wanted * (1 - 0x1p-22)) << near;
    }
  }
}

TEST(RationalEpsilon, IsInLowestTerms) {
  for (const double epsilon : {0.1, 0.3, 1.0, 3.0, 1e-9, 1000.0}) {
    const Rational rational = rational_epsilon(epsilon);
    EXPECT_EQ(std::gcd(rational.numerator, rational.denominator), 1U) << epsilon;
  }
}

TEST(RationalEpsilon, RefusesEpsilonOutOfRange) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double too_small = std::nextafter(0x1p-30, 0.0);
  const double too_large = std::nextafter(0x1p10, kInfinity);
  for (const double epsilon :
       {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 0.0, -0.0, -1.0,
        std::numeric_limits<double>::denorm_min(), too_small, too_large, 1e308}) {
    expect_parameter_error([&] { rational_epsilon(epsilon); });
  }
}

// --- rho -----------------------------------------------------------------------------------------

TEST(GaussianVariance, IsExactForShortBinaryFractions) {
  const auto expect = [](double rho, std::uint64_t numerator, std::uint64_t denominator) {
    const Rational variance = gaussian_variance(rho);
    EXPECT_EQ(variance.numerator, numerator) << rho;
    EXPECT_EQ(variance.denominator, denominator) << rho;
  };
  expect(0.5, 1, 1);
  expect(0.125, 4, 1);
  expect(0.75, 2, 3);
  expect(8, 1, 16);
  expect(0x1p10, 1, 2048);
  expect(1000, 1, 2000);
  expect(0x1p-50, std::uint64_t{1} << 49, 1);
  expect(0.1, std::uint64_t{1} << 54, 3602879701896397);
}

// The numerator is a power of two, so numerator * 2 rho is exact.
TEST(GaussianVariance, IsCloseToOneOverTwiceRhoAndNeverSmaller) {
  for (double rho = 0x1p-50; rho <= 0x1p10; rho *= 1.00123) {
    for (const double near : {rho, std::nextafter(rho, 1.0)}) {
      const Rational variance = gaussian_variance(near);
      ASSERT_EQ(std::popcount(variance.numerator), 1) << near;
      ASSERT_EQ(std::gcd(variance.numerator, variance.denominator), 1U) << near;
      const double wanted = static_cast<double>(variance.numerator) * 2 * near;
      const double denominator = static_cast<double>(variance.denominator);
      ASSERT_LE(denominator, wanted) << near;
      ASSERT_GE(denominator, wanted * (1 - (near < 1e-12 ? 0x1p-14 : 0x1p-24))) << near;
      if (near >= 0.5) {
        ASSERT_EQ(denominator, wanted) << near;
      }
    }
  }
}

TEST(GaussianVariance, RefusesRhoOutOfRange) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double rho :
       {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 0.0, -0.0, -1.0,
        std::nextafter(0x1p-50, 0.0), std::nextafter(0x1p10, kInfinity), 1e308}) {
    expect_parameter_error([&] { gaussian_variance(rho); });
  }
}

// --- Bernoulli(exp(-gamma)) ----------------------------------------------------------------------

constexpr uint128_t kTwoTo126 = uint128_t{1} << 126;
constexpr uint128_t kLargest128 = ~uint128_t{0};

TEST_F(BernoulliExp, IsTrueWithTheExactProbability) {
  struct Case {
    uint128_t numerator;
    uint128_t denominator;
    double value;
  };
  for (const Case& gamma : {
           Case{1, 1000, 0.001},
           Case{1, 2, 0.5},
           Case{1, 1, 1},
           Case{3, 2, 1.5},
           Case{7, 3, 7.0 / 3},
           Case{10, 1, 10},
           Case{kTwoTo126, 3 * kTwoTo126, 1.0 / 3},
           Case{kLargest128 - 1, kLargest128, 1},
           Case{kLargest128 / 3, kLargest128, 1.0 / 3},
           Case{kLargest128, kLargest128 / 2, 2},
       }) {
    const std::array cells = {1 - std::exp(-gamma.value), std::exp(-gamma.value)};
    const auto draw = [&] { return bernoulli_exp(random_, gamma.numerator, gamma.denominator); };
    EXPECT_GT(sampled_p_value(cells, kNoiseDraws, draw), kFalseAlarm) << gamma.value;
  }
}

TEST_F(BernoulliExp, IsTrueForAZeroGamma) {
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(bernoulli_exp(random_, 0, 7));
}

TEST_F(BernoulliExp, IsFalseAndQuickForAHugeGamma) {
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(bernoulli_exp(random_, kLargest128, 1));
}

TEST_F(BernoulliExp, RefusesAZeroDenominator) {
  expect_parameter_error([&] { bernoulli_exp(random_, 1, 0); });
  expect_parameter_error([&] { bernoulli_exp(random_, 0, 0); });
}

// --- Discrete Laplace ----------------------------------------------------------------------------

TEST_F(DiscreteLaplace, FollowsItsLaw) {
  for (const Rational scale : {Rational{1, 10}, Rational{1, 1}, Rational{10, 3}, Rational{20, 6},
                               Rational{1000, 1}, inverse(rational_epsilon(0.1)),
                               inverse(rational_epsilon(3)), Rational{kLargest, kLargest - 1}}) {
    const double s = to_double(scale);
    const auto draw = [&] { return discrete_laplace(random_, scale); };
    const auto probability = [&](std::int64_t y) { return laplace_probability(s, y); };
    EXPECT_GT(noise_p_value(draw, probability, std::lround(20 * s) + 5), kFalseAlarm) << s;
  }
}

TEST_F(DiscreteLaplace, HasTheRightMeanMagnitude) {
  for (const Rational scale :
       {Rational{1, 1}, Rational{10, 3}, Rational{1000, 1}, inverse(rational_epsilon(0.1))}) {
    const double s = to_double(scale);
    const auto draw = [&] { return discrete_laplace(random_, scale); };
    const auto probability = [&](std::int64_t y) { return laplace_probability(s, y); };
    EXPECT_GT(mean_magnitude_p_value(draw, probability, std::lround(40 * s)), kFalseAlarm) << s;
  }
}

TEST_F(DiscreteLaplace, IsSymmetric) {
  for (const Rational scale : {Rational{1, 1}, inverse(rational_epsilon(0.1))}) {
    EXPECT_GT(sign_p_value([&] { return discrete_laplace(random_, scale); }), kFalseAlarm);
  }
}

TEST_F(DiscreteLaplace, FollowsItsLawUpToTheLargestScale) {
  const auto exponential_cdf = [](double x) { return -std::expm1(-x); };
  for (const Rational scale : {Rational{kScaleLimit - 1, 1}, Rational{kLargest, 256},
                               Rational{kLargest, kLargest / 1'000'000}}) {
    const auto draw = [&] { return discrete_laplace(random_, scale); };
    EXPECT_GT(magnitude_p_value(draw, to_double(scale), exponential_cdf), kFalseAlarm);
  }
}

// A non-zero value has a probability below e^-(2^63).
TEST_F(DiscreteLaplace, IsZeroAtTheSmallestScale) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(discrete_laplace(random_, {1, kLargest}), 0);
}

TEST_F(DiscreteLaplace, RefusesAScaleThatIsNotAPositiveNumber) {
  for (const Rational scale : {Rational{0, 1}, Rational{1, 0}, Rational{0, 0}}) {
    expect_parameter_error([&] { discrete_laplace(random_, scale); });
  }
}

// Noise of such a scale overflows 64 bits with a probability that is not negligible.
TEST_F(DiscreteLaplace, RefusesAScaleOfTwoToThe56OrMore) {
  for (const Rational scale : {Rational{kScaleLimit, 1}, Rational{kLargest, 1},
                               Rational{kLargest, 255}, Rational{3 * kScaleLimit, 3}}) {
    expect_parameter_error([&] { discrete_laplace(random_, scale); });
  }
}

// A statistical test cannot see a tail that is cut off at 20 scales, but a script can. Each
// multiple of the scale is a Bernoulli(e^-1) trial, which reads the words 0, 1 when it succeeds and
// 1 when it fails.
std::vector<std::uint64_t> trials_that_succeed(int successes) {
  std::vector<std::uint64_t> script;
  for (int i = 0; i < successes; ++i) script.insert(script.end(), {0, 1});
  script.push_back(1);
  return script;
}

TEST(ScriptedDiscreteLaplace, HasAnUnboundedTail) {
  std::vector<std::uint64_t> script = trials_that_succeed(1000);
  script.push_back(0);  // the sign
  ScriptedSource source(script);
  RandomStream random(source);
  EXPECT_EQ(discrete_laplace(random, {1, 1}), 1000);
}

TEST(ScriptedDiscreteLaplace, ThrowsInsteadOfTruncating) {
  constexpr std::uint64_t kScale = std::uint64_t{1} << 55;
  const auto noise_after = [](int successes) {
    std::vector<std::uint64_t> script = trials_that_succeed(successes);
    script.insert(script.begin(), {0, 0});  // the part below the scale: zero, accepted
    script.push_back(0);                    // the sign
    ScriptedSource source(script);
    RandomStream random(source);
    return discrete_laplace(random, {kScale, 1});
  };
  EXPECT_EQ(noise_after(255), std::int64_t{kScale} * 255);
  EXPECT_THROW(noise_after(256), std::overflow_error);
}

// --- Discrete Gaussian ---------------------------------------------------------------------------

TEST_F(DiscreteGaussian, FollowsItsLaw) {
  for (const Rational sigma_squared :
       {Rational{1, 4}, Rational{1, 1}, Rational{7, 3}, Rational{14, 6}, Rational{10000, 1},
        inverse(rational_epsilon(0.1)), gaussian_variance(0.003), gaussian_variance(0.7),
        gaussian_variance(2), Rational{kLargest, kLargest - 1}, Rational{kLargest - 1, kLargest},
        Rational{kLargest, kLargest / 100}}) {
    const GaussianLaw law(to_double(sigma_squared));
    const auto draw = [&] { return discrete_gaussian(random_, sigma_squared); };
    EXPECT_GT(noise_p_value(draw, law, law.radius()), kFalseAlarm) << to_double(sigma_squared);
  }
}

TEST_F(DiscreteGaussian, HasTheRightMeanMagnitude) {
  for (const Rational sigma_squared :
       {Rational{1, 1}, Rational{7, 3}, Rational{10000, 1}, inverse(rational_epsilon(0.1))}) {
    const GaussianLaw law(to_double(sigma_squared));
    const auto draw = [&] { return discrete_gaussian(random_, sigma_squared); };
    EXPECT_GT(mean_magnitude_p_value(draw, law, law.radius()), kFalseAlarm)
        << to_double(sigma_squared);
  }
}

TEST_F(DiscreteGaussian, IsSymmetric) {
  for (const Rational sigma_squared : {Rational{1, 1}, inverse(rational_epsilon(0.1))}) {
    EXPECT_GT(sign_p_value([&] { return discrete_gaussian(random_, sigma_squared); }), kFalseAlarm);
  }
}

TEST_F(DiscreteGaussian, FollowsItsLawUpToTheLargestParameter) {
  const auto half_normal_cdf = [](double x) { return std::erf(x / std::sqrt(2.0)); };
  for (const Rational sigma_squared :
       {Rational{kLargest, 1}, Rational{kLargest, 3}, Rational{kLargest, std::uint64_t{1} << 22},
        gaussian_variance(1e-12), gaussian_variance(0x1.8p-50)}) {
    const double sigma = std::sqrt(to_double(sigma_squared));
    const auto draw = [&] { return discrete_gaussian(random_, sigma_squared); };
    EXPECT_GT(magnitude_p_value(draw, sigma, half_normal_cdf), kFalseAlarm) << sigma;
  }
}

// A value beyond 40 sigma + 1 has a probability below e^-800.
TEST_F(DiscreteGaussian, HasAPlausibleMagnitudeForEveryParameter) {
  constexpr std::array<std::uint64_t, 7> kExtremes = {
      1, 2, 3, (std::uint64_t{1} << 32) + 1, std::uint64_t{1} << 63, kLargest - 1, kLargest};
  for (const std::uint64_t numerator : kExtremes) {
    for (const std::uint64_t denominator : kExtremes) {
      const Rational sigma_squared{numerator, denominator};
      const double limit = 40 * std::sqrt(to_double(sigma_squared)) + 1;
      for (int i = 0; i < 1000; ++i) {
        const auto y = static_cast<double>(discrete_gaussian(random_, sigma_squared));
        ASSERT_LE(std::abs(y), limit) << numerator << "/" << denominator;
      }
    }
  }
}

TEST_F(DiscreteGaussian, RefusesAVarianceThatIsNotAPositiveNumber) {
  for (const Rational sigma_squared : {Rational{0, 1}, Rational{1, 0}, Rational{0, 0}}) {
    expect_parameter_error([&] { discrete_gaussian(random_, sigma_squared); });
  }
}

// --- Failure -------------------------------------------------------------------------------------

TEST(NoiseSamplers, ThrowWhenTheSourceFails) {
  FailingSource source;
  RandomStream random(source);
  EXPECT_THROW(bernoulli_exp(random, 1, 2), RandomnessUnavailable);
  EXPECT_THROW(discrete_laplace(random, {10, 3}), RandomnessUnavailable);
  EXPECT_THROW(discrete_gaussian(random, {7, 3}), RandomnessUnavailable);
}

TEST(NoiseSamplers, ThrowWhenTheSourceFailsDuringADraw) {
  ScriptedSource source({0});  // zeros: every trial succeeds, so that no draw ever ends
  RandomStream random(source);
  EXPECT_THROW(discrete_laplace(random, {10, 3}), RandomnessUnavailable);
}

}  // namespace
}  // namespace dpquantile
