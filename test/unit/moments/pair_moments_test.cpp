#include "core/moments/pair_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/noise_error.hpp"
#include "support/context_testing.hpp"
#include "support/random_testing.hpp"

namespace dpquantile {
namespace {

using test::SeededSource;
using test::TestContext;

using Rows = std::vector<std::pair<double, double>>;  // value, x

const FixedPoint kValue{-20, 60};
const FixedPoint kX{10, 15};

PairSums sums_of(const Rows& rows) {
  PairSums sums;
  for (const auto& [value, x] : rows) sums.add(value_units(kValue, value), value_units(kX, x));
  return sums;
}

NoisyPairSums without_noise(const Rows& rows, const PairDegrees& degrees) {
  const PairUnits units = pair_units(degrees, pure(1));
  NoisyPairSums noisy{degrees, {}};
  const auto exact = pair_sums(sums_of(rows), units);
  for (std::size_t k = 0; k < kPairWeights; ++k) {
    noisy.part[k] = std::ldexp(static_cast<double>(exact[k]), -units.bits);
  }
  return noisy;
}

PairMoments exact_moments(const Rows& rows, const PairDegrees& degrees) {
  return {without_noise(rows, degrees), kValue, kX};
}

struct Exact {
  double covariance = 0;
  double variance_of_x = 0;
  double variance_of_value = 0;
  double mean_of_x = 0;
  double mean_of_value = 0;
};

Exact exact_of(const Rows& rows) {
  Exact exact;
  const auto n = static_cast<double>(rows.size());
  for (const auto& [value, x] : rows) {
    exact.mean_of_value += value / n;
    exact.mean_of_x += x / n;
  }
  for (const auto& [value, x] : rows) {
    const double a = value - exact.mean_of_value;
    const double b = x - exact.mean_of_x;
    exact.covariance += a * b / n;
    exact.variance_of_x += b * b / n;
    exact.variance_of_value += a * a / n;
  }
  return exact;
}

Rows some_rows() {
  Rows rows;
  for (int i = 0; i < 200; ++i) {
    const double x = 10 + 0.025 * (i * 37 % 200);
    rows.emplace_back(8 * (x - 10) + i * 13 % 17, x);
  }
  return rows;
}

TEST(PairMoments, AreThoseOfTheRows) {
  const Rows rows = some_rows();
  const Exact exact = exact_of(rows);
  const double slope = exact.covariance / exact.variance_of_x;
  const double correlation =
      exact.covariance / std::sqrt(exact.variance_of_x * exact.variance_of_value);
  for (const PairDegrees& degrees :
       {kDegreesOfCovariance, kDegreesOfSlope, kDegreesOfCorrelation}) {
    const PairMoments moments = exact_moments(rows, degrees);
    EXPECT_NEAR(moments.covariance(), exact.covariance, 1e-5);
    EXPECT_NEAR(moments.sample_covariance(), exact.covariance * 200 / 199, 1e-5);
  }
  for (const PairDegrees& degrees : {kDegreesOfSlope, kDegreesOfCorrelation}) {
    const PairMoments moments = exact_moments(rows, degrees);
    EXPECT_NEAR(moments.slope().value(), slope, 1e-5);
    EXPECT_NEAR(moments.intercept().value(), exact.mean_of_value - slope * exact.mean_of_x, 1e-4);
  }
  const PairMoments moments = exact_moments(rows, kDegreesOfCorrelation);
  EXPECT_NEAR(moments.correlation().value(), correlation, 1e-6);
  EXPECT_NEAR(moments.determination().value(), correlation * correlation, 1e-6);
}

// Two standard deviations. Of 2000 releases 140 miss with a probability below 1e-4 if one in 20
// does, and the noise is the same in every run of the test.
TEST(PairMoments, HaveACovarianceAboutAsFarOffAsTheyTell) {
  SeededSource source;
  TestContext context(source);
  const Rows rows = some_rows();
  const double exact = exact_of(rows).covariance;
  for (const PrivacyParameter& privacy : {pure(1), zcdp(0.1)}) {
    for (const PairDegrees& degrees : {kDegreesOfCovariance, kDegreesOfCorrelation}) {
      int missed = 0;
      for (int i = 0; i < 2000; ++i) {
        const PairMoments moments =
            release_pair_moments(sums_of(rows), kValue, kX, degrees, privacy, context.random);
        const double error = moments.error_of_covariance() * std::abs(moments.covariance());
        missed += std::abs(moments.covariance() - exact) > error ? 1 : 0;
      }
      EXPECT_LE(missed, 140);
      EXPECT_GE(missed, 20);
    }
  }
  EXPECT_EQ(exact_moments({}, kDegreesOfCovariance).error_of_covariance(), INFINITY);
}

TEST(PairMoments, AreNoneWithoutSpread) {
  for (const Rows& rows : {Rows{}, Rows(9, {3, 10}), Rows{{60, 10}, {-20, 10}}}) {
    const PairMoments moments = exact_moments(rows, kDegreesOfCorrelation);
    EXPECT_EQ(moments.slope(), std::nullopt);
    EXPECT_EQ(moments.intercept(), std::nullopt);
    EXPECT_EQ(moments.correlation(), std::nullopt);
    EXPECT_NEAR(moments.covariance(), 0, 1e-6);
  }
}

// Whatever the noise is, also that of hardly any rows.
TEST(PairMoments, ArePossible) {
  SeededSource source;
  TestContext context(source);
  for (int i = 0; i < 20'000; ++i) {
    const PrivacyParameter privacy = i % 2 == 0 ? pure(1) : zcdp(0.1);
    const PairSums sums = sums_of(Rows(static_cast<std::size_t>(i % 5), {60, 15}));
    const PairMoments all =
        release_pair_moments(sums, kValue, kX, kDegreesOfCorrelation, privacy, context.random);
    const PairMoments line =
        release_pair_moments(sums, kValue, kX, kDegreesOfSlope, privacy, context.random);
    ASSERT_LE(std::abs(all.covariance()), 80 * 5 / 4.0);
    ASSERT_LE(std::abs(all.sample_covariance()), 80 * 5 / 2.0);
    ASSERT_LE(std::abs(all.correlation().value_or(0)), 1);
    ASSERT_LE(all.determination().value_or(0), 1);
    ASSERT_TRUE(std::isfinite(line.slope().value_or(0)));
    ASSERT_TRUE(std::isfinite(line.intercept().value_or(0)));
  }
}

TEST(PairMoments, RefuseWidthsWhoseProductOrQuotientIsNoNumber) {
  EXPECT_NO_THROW(check_pair_bounds(kValue, kX));
  EXPECT_THROW(check_pair_bounds({0, 1e200}, {0, 1e200}), ParameterError);
  EXPECT_THROW(check_pair_bounds({0, 1e-200}, {0, 1e200}), ParameterError);
  EXPECT_THROW(check_pair_bounds({0, 1e200}, {0, 1e-200}), ParameterError);
}

// To first order the error is the noise with the weights (a - m) (b - k) - c at the corners a, b =
// 0, 1, for rows with the means m, k and the covariance c. None has a larger mean than that of one
// sum alone, which is what the forecast takes.
TEST(CovarianceError, IsThatOfTheWorstData) {
  constexpr int kSteps = 40;
  double worst_of_laplace = 0;
  double worst_of_gaussian = 0;
  for (int i = 0; i <= kSteps; ++i) {
    for (int j = 0; j <= kSteps; ++j) {
      const double m = static_cast<double>(i) / kSteps;
      const double k = static_cast<double>(j) / kSteps;
      // |S| has a mean that is convex in c, so the ends of what is possible are the worst.
      for (const double c : {std::min(m, k) - m * k, std::max(m + k - 1, 0.0) - m * k}) {
        const double weights[] = {m * k - c, -m * (1 - k) - c, -(1 - m) * k - c,
                                  (1 - m) * (1 - k) - c};
        // Four terms of Laplace noise: E|S| = (2 / pi) integral of (1 - prod 1 / (1 + w^2 t^2)) /
        // t^2.
        double mean = 0;
        double square = 0;
        constexpr double kStep = 0.01;
        for (double s = kStep / 2; s < 20; s += kStep) {
          const double t = s * s;  // finer near 0
          double product = 1;
          for (const double w : weights) product /= 1 + w * w * t * t;
          mean += 2 / M_PI * (1 - product) / (t * t) * 2 * s * kStep;
        }
        mean += 2 / M_PI / 400;  // the rest, where the product is 0 at the least
        for (const double w : weights) square += w * w;
        worst_of_laplace = std::max(worst_of_laplace, mean);
        worst_of_gaussian = std::max(worst_of_gaussian, std::sqrt(square));
      }
    }
  }
  EXPECT_NEAR(worst_of_laplace, 1, 0.005);
  EXPECT_NEAR(worst_of_gaussian, 1, 1e-12);
}

// The mean of 4000 errors of Laplace noise is off by more than a tenth with a probability below
// 1e-9.
TEST(CovarianceError, IsReachedAtACornerOfTheBounds) {
  constexpr int kReleases = 4000;
  SeededSource source;
  TestContext context(source);
  for (const PrivacyParameter& privacy : {pure(1), zcdp(0.5)}) {
    const PairSums sums = sums_of(Rows(1000, {-20, 10}));
    double error = 0;
    for (int i = 0; i < kReleases; ++i) {
      NoisyPairSums noisy = release_pair_sums(sums, kDegreesOfCovariance, privacy, context.random);
      error += std::abs(noisy.part[4]) / noisy.rows() * 400 / kReleases;
    }
    const CovarianceError expected = covariance_expected_error(1000, privacy, kValue, kX);
    EXPECT_NEAR(error, expected.covariance, 0.1 * expected.covariance);
    EXPECT_GT(expected.sample_covariance, expected.covariance);
  }
  EXPECT_EQ(covariance_expected_error(1, pure(0.01), kValue, kX).covariance, 100);
  EXPECT_THROW(covariance_expected_error(0, pure(1), kValue, kX), ParameterError);
}

// Five sums of 1, x, y, x y, x^2 and y^2 apart would each have a sixth of epsilon: of the mean of
// the products alone, around the middles of the bounds, the error is then six times a quarter of
// the product of the widths, over epsilon n. The covariance from the four products of one release
// is more exact on average. (Figures: docs/statistics.md.)
TEST(PairMoments, AreMoreExactThanSumsWithSharesOfEpsilon) {
  constexpr int kReleases = 2000;
  SeededSource source;
  TestContext context(source);
  const Rows rows = some_rows();
  const double exact = exact_of(rows).covariance;
  double error = 0;
  for (int i = 0; i < kReleases; ++i) {
    error += std::abs(release_pair_moments(sums_of(rows), kValue, kX, kDegreesOfCovariance, pure(1),
                                           context.random)
                          .covariance() -
                      exact) /
             kReleases;
  }
  EXPECT_LT(error, 6 * 0.25 * 400 / 200 * 0.7);
}

}  // namespace
}  // namespace dpquantile
