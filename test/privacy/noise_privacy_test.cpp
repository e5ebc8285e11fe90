#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/privacy/noise.hpp"
#include "core/privacy/noise_table.hpp"
#include "core/privacy/random.hpp"
#include "support/privacy_loss.hpp"

// Noise added to an integer query. Its answers on two neighbouring datasets are 0 and 1.
namespace dpquantile {
namespace {

using test::certain_delta;
using test::exact_delta;
using test::exact_loss;
using test::fit_p_value;
using test::kFalseAlarm;
using test::Sample;
using test::take_sample;

using Law = std::vector<long double>;
using Real = long double;

constexpr int kDraws = 500'000;

Real to_real(Rational value) {
  return static_cast<Real>(value.numerator) / static_cast<Real>(value.denominator);
}

// The values from -radius to radius as indices. A value beyond an end has the index of that end.
struct Window {
  std::int64_t radius;

  std::size_t size() const { return static_cast<std::size_t>(2 * radius + 1); }
  std::size_t index(std::int64_t y) const {
    return static_cast<std::size_t>(std::clamp(y, -radius, radius) + radius);
  }

  // The law of answer + noise, given the noise's weights, which are negligible beyond 60 radii.
  template <class Weight>
  Law law(std::int64_t answer, Weight weight) const {
    Law law(size());
    Real total = 0;
    for (std::int64_t y = -60 * radius; y <= 60 * radius; ++y) {
      law[index(answer + y)] += weight(y);
      total += weight(y);
    }
    for (Real& probability : law) probability /= total;
    return law;
  }

  template <class Noise>
  Sample sample(std::int64_t answer, Noise noise) const {
    return take_sample(size(), kDraws, [&] { return index(answer + noise()); });
  }
};

class NoisePrivacy : public ::testing::Test {
 protected:
  // One of two that are drawn together, and then the other.
  std::int64_t drawn_at_once(const NoiseTable& table) {
    if (!is_second_next_) table.draw(pair_, random_);
    is_second_next_ = !is_second_next_;
    return pair_[is_second_next_ ? 0 : 1];
  }

  CsprngSource source_;
  RandomStream random_{source_};

 private:
  std::array<std::int64_t, 2> pair_{};
  bool is_second_next_ = false;
};

// --- Discrete Laplace ----------------------------------------------------------------------------

class LaplaceNoise : public NoisePrivacy {
 protected:
  static constexpr double kEpsilons[] = {0.1, 0.5, 1, 3};

  static Rational scale(double epsilon) {
    const Rational rational = rational_epsilon(epsilon);
    return {rational.denominator, rational.numerator};
  }
  static Window window(double epsilon) { return {std::lround(5 / epsilon) + 2}; }
  static Law law(std::int64_t answer, double epsilon) {
    const Real s = to_real(scale(epsilon));
    return window(epsilon).law(
        answer, [=](std::int64_t y) { return std::exp(-std::fabs(static_cast<Real>(y)) / s); });
  }
  Sample sample(std::int64_t answer, double epsilon, const Window& window) {
    return window.sample(answer, [&] { return discrete_laplace(random_, scale(epsilon)); });
  }
  Sample table_sample(std::int64_t answer, double epsilon, const Window& window) {
    const NoiseTable table = NoiseTable::laplace(scale(epsilon));
    return window.sample(answer, [&] { return drawn_at_once(table); });
  }
};

TEST_F(LaplaceNoise, LosesExactlyEpsilonByItsLaw) {
  for (const double epsilon : kEpsilons) {
    const Law zero = law(0, epsilon);
    const Law one = law(1, epsilon);
    EXPECT_LE(exact_loss(zero, one), Real{epsilon} + 1e-15L) << epsilon;
    EXPECT_GT(exact_loss(zero, one), 0.999999L * epsilon) << epsilon;
  }
}

TEST_F(LaplaceNoise, FollowsItsLawAndKeepsEpsilonInDraws) {
  for (const double epsilon : kEpsilons) {
    const Sample zero = sample(0, epsilon, window(epsilon));
    const Sample one = sample(1, epsilon, window(epsilon));
    EXPECT_GT(fit_p_value(zero, law(0, epsilon)), kFalseAlarm) << epsilon;
    EXPECT_GT(fit_p_value(one, law(1, epsilon)), kFalseAlarm) << epsilon;
    EXPECT_LE(certain_delta(zero, one, epsilon, kFalseAlarm), 0) << epsilon;
  }
}

TEST_F(LaplaceNoise, FollowsItsLawAndKeepsEpsilonInDrawsFromATable) {
  for (const double epsilon : {0.02, 0.5, 3.0}) {
    const Sample zero = table_sample(0, epsilon, window(epsilon));
    const Sample one = table_sample(1, epsilon, window(epsilon));
    EXPECT_GT(fit_p_value(zero, law(0, epsilon)), kFalseAlarm) << epsilon;
    EXPECT_GT(fit_p_value(one, law(1, epsilon)), kFalseAlarm) << epsilon;
    EXPECT_LE(certain_delta(zero, one, epsilon, kFalseAlarm), 0) << epsilon;
  }
}

TEST_F(LaplaceNoise, IsRefutedFromATableWithHalfTheScale) {
  for (const double epsilon : {0.5, 3.0}) {
    const Sample zero = table_sample(0, 2 * epsilon, window(epsilon));
    const Sample one = table_sample(1, 2 * epsilon, window(epsilon));
    EXPECT_GT(certain_delta(zero, one, epsilon, kFalseAlarm), 0) << epsilon;
  }
}

// The event y >= 1 has an excess of at least 0.04, more than 30 standard deviations.
TEST_F(LaplaceNoise, IsRefutedWithHalfTheScale) {
  for (const double epsilon : kEpsilons) {
    const Sample zero = sample(0, 2 * epsilon, window(epsilon));
    const Sample one = sample(1, 2 * epsilon, window(epsilon));
    EXPECT_GT(certain_delta(zero, one, epsilon, kFalseAlarm), 0) << epsilon;
    EXPECT_GT(exact_loss(law(0, 2 * epsilon), law(1, 2 * epsilon)), 1.9L * epsilon) << epsilon;
  }
}

// --- Discrete Gaussian ---------------------------------------------------------------------------

class GaussianNoise : public NoisePrivacy {
 protected:
  static constexpr Rational kSigmasSquared[] = {{1, 1}, {5, 2}, {100, 1}};

  static Window window(Rational sigma_squared) {
    return {std::lround(5 * std::sqrt(to_real(sigma_squared))) + 2};
  }
  static Real weight(Rational sigma_squared, std::int64_t y) {
    const Real value = static_cast<Real>(y);
    return std::exp(-value * value / (2 * to_real(sigma_squared)));
  }
  static Law law(std::int64_t answer, Rational sigma_squared) {
    return window(sigma_squared).law(answer, [=](std::int64_t y) {
      return weight(sigma_squared, y);
    });
  }
  Sample sample(std::int64_t answer, Rational sigma_squared, const Window& window) {
    return window.sample(answer, [&] { return discrete_gaussian(random_, sigma_squared); });
  }
  Sample table_sample(std::int64_t answer, Rational sigma_squared, const Window& window) {
    const NoiseTable table = NoiseTable::gaussian(sigma_squared);
    return window.sample(answer, [&] { return drawn_at_once(table); });
  }
  static Rational quarter(Rational value) { return {value.numerator, 4 * value.denominator}; }
};

// alpha / (2 sigma^2) bounds the Renyi divergence of every order: 1/(2 sigma^2)-zCDP.
TEST_F(GaussianNoise, KeepsRhoByItsLaw) {
  for (const Rational sigma_squared : kSigmasSquared) {
    const Real variance = to_real(sigma_squared);
    const std::int64_t radius = std::lround(60 * std::sqrt(variance));
    Real total = 0;
    for (std::int64_t y = -radius; y <= radius; ++y) total += weight(sigma_squared, y);
    for (const Real alpha : {1.01L, 1.5L, 2.0L, 5.0L, 20.0L}) {
      Real moment = 0;
      for (std::int64_t y = -2 * radius; y <= 2 * radius; ++y) {
        const Real zero = -static_cast<Real>(y) * static_cast<Real>(y) / (2 * variance);
        const Real one = -static_cast<Real>(y - 1) * static_cast<Real>(y - 1) / (2 * variance);
        moment += std::exp(alpha * zero + (1 - alpha) * one) / total;
      }
      const Real divergence = std::log(moment) / (alpha - 1);
      EXPECT_LE(divergence, alpha / (2 * variance) + 1e-12L) << alpha;
    }
  }
}

TEST_F(GaussianNoise, FollowsItsLawAndKeepsDeltaInDraws) {
  for (const Rational sigma_squared : kSigmasSquared) {
    const Real epsilon = 1 / std::sqrt(to_real(sigma_squared));
    const Law law_zero = law(0, sigma_squared);
    const Law law_one = law(1, sigma_squared);
    const Sample zero = sample(0, sigma_squared, window(sigma_squared));
    const Sample one = sample(1, sigma_squared, window(sigma_squared));
    EXPECT_GT(fit_p_value(zero, law_zero), kFalseAlarm) << epsilon;
    EXPECT_GT(fit_p_value(one, law_one), kFalseAlarm) << epsilon;
    EXPECT_LE(certain_delta(zero, one, static_cast<double>(epsilon), kFalseAlarm),
              exact_delta(law_zero, law_one, epsilon));
  }
}

TEST_F(GaussianNoise, FollowsItsLawAndKeepsDeltaInDrawsFromATable) {
  for (const Rational sigma_squared : {Rational{1, 1}, Rational{5, 2}, Rational{10'000, 1}}) {
    const Real epsilon = 1 / std::sqrt(to_real(sigma_squared));
    const Law law_zero = law(0, sigma_squared);
    const Law law_one = law(1, sigma_squared);
    const Sample zero = table_sample(0, sigma_squared, window(sigma_squared));
    const Sample one = table_sample(1, sigma_squared, window(sigma_squared));
    EXPECT_GT(fit_p_value(zero, law_zero), kFalseAlarm) << epsilon;
    EXPECT_GT(fit_p_value(one, law_one), kFalseAlarm) << epsilon;
    EXPECT_LE(certain_delta(zero, one, static_cast<double>(epsilon), kFalseAlarm),
              exact_delta(law_zero, law_one, epsilon));
  }
}

TEST_F(GaussianNoise, IsRefutedFromATableWithHalfTheScale) {
  for (const Rational sigma_squared : kSigmasSquared) {
    const Real epsilon = 1 / std::sqrt(to_real(sigma_squared));
    const Real claimed = exact_delta(law(0, sigma_squared), law(1, sigma_squared), epsilon);
    const Sample zero = table_sample(0, quarter(sigma_squared), window(sigma_squared));
    const Sample one = table_sample(1, quarter(sigma_squared), window(sigma_squared));
    EXPECT_GT(certain_delta(zero, one, static_cast<double>(epsilon), kFalseAlarm), claimed)
        << epsilon;
  }
}

// At epsilon = 1/sigma half the scale has a delta larger by at least 0.03, more than 15 standard
// deviations.
TEST_F(GaussianNoise, IsRefutedWithHalfTheScale) {
  for (const Rational sigma_squared : kSigmasSquared) {
    const Real epsilon = 1 / std::sqrt(to_real(sigma_squared));
    const Real claimed = exact_delta(law(0, sigma_squared), law(1, sigma_squared), epsilon);
    const Sample zero = sample(0, quarter(sigma_squared), window(sigma_squared));
    const Sample one = sample(1, quarter(sigma_squared), window(sigma_squared));
    EXPECT_GT(certain_delta(zero, one, static_cast<double>(epsilon), kFalseAlarm), claimed)
        << epsilon;
  }
}

}  // namespace
}  // namespace dpquantile
