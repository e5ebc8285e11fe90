#include "core/privacy/noise_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace dpquantile {
namespace {

constexpr PrivacyMeasure kPure = PrivacyMeasure::kPure;
constexpr PrivacyMeasure kZcdp = PrivacyMeasure::kZcdp;
constexpr double kClose = 0.005;

double quantile(PrivacyMeasure measure, const std::vector<double>& spreads, double tail = 0.05) {
  return noise_quantile(measure, spreads, tail);
}

void expect_slightly_above(double value, double exact) {
  EXPECT_GE(value, exact * (1 - 1e-9));
  EXPECT_LE(value, exact * (1 + kClose));
}

TEST(NoiseQuantile, OfOneNoiseIsTheTextbooks) {
  expect_slightly_above(quantile(kPure, {2}), 2 * std::log(20));
  expect_slightly_above(quantile(kPure, {-2, 0, 0}), 2 * std::log(20));
  expect_slightly_above(quantile(kZcdp, {2}), 2 * 1.959963984540054);
  EXPECT_EQ(quantile(kPure, {0, 0}), 0);
}

// Two Laplace noises of scale a: P(|S| > t) = (1 + t / (2 a)) e^(-t / a); three:
// (1 + 5 t / (8 a) + t^2 / (8 a^2)) e^(-t / a).
TEST(NoiseQuantile, OfEqualScalesIsThatOfTheirConvolution) {
  const double two = quantile(kPure, {3, 3});
  EXPECT_NEAR((1 + two / 6) * std::exp(-two / 3), 0.05, 0.05 * 0.02);
  EXPECT_LE((1 + two / 6) * std::exp(-two / 3), 0.05);
  const double three = quantile(kPure, {1, 1, 1});
  const double tail = (1 + 5 * three / 8 + three * three / 8) * std::exp(-three);
  EXPECT_NEAR(tail, 0.05, 0.05 * 0.02);
  EXPECT_LE(tail, 0.05);
}

// By the partial fractions of scales that are far apart.
TEST(NoiseQuantile, IsWhereTheTailFallsToTheLevel) {
  const auto laplace = [](double t) {
    const double a = 1, b = 4, c = 9;
    return a * a * a * a / ((a * a - b * b) * (a * a - c * c)) * std::exp(-t / a) +
           b * b * b * b / ((b * b - a * a) * (b * b - c * c)) * std::exp(-t / b) +
           c * c * c * c / ((c * c - a * a) * (c * c - b * b)) * std::exp(-t / c);
  };
  for (const double level : {0.999, 0.5, 0.05, 0.002, 1e-6, 1e-12}) {
    EXPECT_NEAR(laplace(quantile(kPure, {4, -9, 1}, level)) / level, 1, 1e-9) << level;
    EXPECT_NEAR(std::exp(-quantile(kPure, {7}, level) / 7) / level, 1, 1e-9) << level;
    EXPECT_NEAR(std::erfc(quantile(kZcdp, {7}, level) / 7 / std::sqrt(2)) / level, 1, 1e-9)
        << level;
  }
}

TEST(NoiseQuantile, OfIndependentNormalsAddsVariances) {
  expect_slightly_above(quantile(kZcdp, {3, 4}), 5 * 1.959963984540054);
  expect_slightly_above(quantile(kZcdp, {2, -3, 6}, 0.01), 7 * 2.5758293035489);
}

// The share of 100000 sums beyond the quantile has a standard deviation of 0.0007; the generator is
// seeded.
TEST(NoiseQuantile, LeavesTheTailBeyondIt) {
  std::mt19937_64 generator(1);
  std::exponential_distribution<double> exponential;
  const auto laplace = [&] { return exponential(generator) - exponential(generator); };
  for (const std::vector<double>& spreads :
       {std::vector<double>{1, 0.5}, {1, 0.01, 0.3}, {0.2, 0.21, 1}, {1, 0.999, 0.5}}) {
    const double t = quantile(kPure, spreads);
    double sum = 0;
    int beyond = 0;
    for (int i = 0; i < 100'000; ++i) {
      double noise = 0;
      for (const double spread : spreads) noise += spread * laplace();
      beyond += std::abs(noise) > t;
      sum += std::abs(noise);
    }
    EXPECT_NEAR(beyond / 1e5, 0.05, 0.004);
    EXPECT_NEAR(mean_noise(kPure, spreads), sum / 1e5, 0.02);
  }
}

TEST(MeanNoise, IsTheMeanMagnitude) {
  expect_slightly_above(mean_noise(kPure, std::vector<double>{2, 0}), 2);
  expect_slightly_above(mean_noise(kPure, std::vector<double>{1, 1}), 1.5);
  expect_slightly_above(mean_noise(kPure, std::vector<double>{1, 1, 1}), 1.875);
  expect_slightly_above(mean_noise(kZcdp, std::vector<double>{3, 4}), 5 * 0.7978845608);
}

// A count read off sums with Laplace noise of scale 1/10 is mostly exact.
TEST(MeanRoundedNoise, IsTheMeanMagnitudeOfWholeNumbers) {
  std::mt19937_64 generator(1);
  std::exponential_distribution<double> exponential;
  const auto laplace = [&] { return exponential(generator) - exponential(generator); };
  for (const std::vector<double>& spreads :
       {std::vector<double>{0.1, 0.1, 0.1}, {0.3}, {1, 1, 1}, {5, 2, 5}}) {
    double sum = 0;
    for (int i = 0; i < 100'000; ++i) {
      double noise = 0;
      for (const double spread : spreads) noise += spread * laplace();
      sum += std::abs(std::round(noise));
    }
    EXPECT_NEAR(mean_rounded_noise(kPure, spreads) / (sum / 1e5), 1, 0.05) << spreads[0];
  }
  // By summation of the normal tails.
  EXPECT_NEAR(mean_rounded_noise(kZcdp, std::vector<double>{0.3, 0.4}), 0.3173105 + 0.0026998,
              1e-6);
  EXPECT_NEAR(mean_rounded_noise(kZcdp, std::vector<double>{30, 40}), 50 * 0.7978845608, 1e-3);
  EXPECT_EQ(mean_rounded_noise(kPure, std::vector<double>{0, 0}), 0);
  EXPECT_EQ(mean_rounded_noise(kZcdp, std::vector<double>{0}), 0);
}

// The magnitudes of integer noise with these weights, by summation.
template <class Weight>
double tail_beyond(std::uint64_t t, Weight weight) {
  double all = weight(0.0);
  double beyond = 0;
  for (int y = 1; y < 5000; ++y) {
    all += 2 * weight(y);
    if (static_cast<std::uint64_t>(y) > t) beyond += 2 * weight(y);
  }
  return beyond / all;
}

template <class Weight>
double mean_magnitude(Weight weight) {
  double all = weight(0.0);
  double sum = 0;
  for (int y = 1; y < 5000; ++y) {
    all += 2 * weight(y);
    sum += 2 * y * weight(y);
  }
  return sum / all;
}

TEST(MeanIntegerNoise, IsTheMeanMagnitude) {
  for (const double spread : {0.02, 0.1, 0.3, 1.0, 7.0, 19.0, 25.0, 50.0}) {
    const auto laplace = [&](double y) { return std::exp(-y / spread); };
    const auto gaussian = [&](double y) { return std::exp(-y * y / (2 * spread * spread)); };
    EXPECT_NEAR(mean_integer_noise(kPure, spread), mean_magnitude(laplace), 1e-6 * spread);
    EXPECT_NEAR(mean_integer_noise(kZcdp, spread), mean_magnitude(gaussian), 1e-3 * spread);
  }
}

TEST(IntegerNoiseQuantile, IsTheLeastForLaplaceNoise) {
  for (const double scale : {0.001, 0.3, 1.0, 2.0, 30.0}) {
    const auto weight = [&](double y) { return std::exp(-y / scale); };
    const std::uint64_t t = integer_noise_quantile(kPure, scale, 0.05);
    EXPECT_LE(tail_beyond(t, weight), 0.05);
    if (t > 0) {
      EXPECT_GT(tail_beyond(t - 1, weight), 0.05);
    }
  }
}

TEST(IntegerNoiseQuantile, IsAtMostOneTooLargeForGaussianNoise) {
  for (const double sigma : {0.1, 0.5, 1.0, 7.0, 50.0}) {
    const auto weight = [&](double y) { return std::exp(-y * y / (2 * sigma * sigma)); };
    const std::uint64_t t = integer_noise_quantile(kZcdp, sigma, 0.05);
    EXPECT_LE(tail_beyond(t, weight), 0.05);
    if (t > 1) {
      EXPECT_GT(tail_beyond(t - 2, weight), 0.05);
    }
  }
}

}  // namespace
}  // namespace dpquantile
