#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "support/chi_square.hpp"

// The laws of noise, and tests of draws against them. Every p-value is for kNoiseDraws draws.
namespace dpquantile::test {

inline constexpr int kNoiseDraws = 1'000'000;

inline double to_double(Rational value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

template <class Call>
void expect_parameter_error(Call call) {
  try {
    call();
    ADD_FAILURE() << "expected a ParameterError";
  } catch (const ParameterError& error) {
    EXPECT_NE(std::string(error.what()).find("expected"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("got"), std::string::npos) << error.what();
    EXPECT_FALSE(error.hint().empty());
  }
}

// The p-value of noise on the integers against its exact probabilities. Every value of magnitude up
// to `radius` has a cell, and so has each tail.
template <class Draw, class Probability>
double noise_p_value(Draw draw, Probability probability, std::int64_t radius) {
  std::vector<double> cells = {0};
  for (std::int64_t y = -radius; y <= radius; ++y) cells.push_back(probability(y));
  const double inner = std::accumulate(cells.begin(), cells.end(), 0.0);
  cells.front() = std::max(0.0, (1 - inner) / 2);
  cells.push_back(cells.front());
  return sampled_p_value(cells, kNoiseDraws,
                         [&] { return std::clamp(draw(), -radius - 1, radius + 1) + radius + 1; });
}

// The two-sided p-value of the mean magnitude, a normal test. With a million draws it detects a
// scale that is wrong by one per cent, which a chi-square test of many cells misses.
template <class Draw, class Probability>
double mean_magnitude_p_value(Draw draw, Probability probability, std::int64_t radius) {
  double mean = 0;
  double mean_square = 0;
  for (std::int64_t y = 1; y <= radius; ++y) {
    const double weighted = 2 * probability(y) * static_cast<double>(y);
    mean += weighted;
    mean_square += weighted * static_cast<double>(y);
  }
  double sum = 0;
  for (int i = 0; i < kNoiseDraws; ++i) sum += std::abs(static_cast<double>(draw()));
  const double variance = mean_square - mean * mean;
  return std::erfc(std::abs(sum - kNoiseDraws * mean) / std::sqrt(2 * kNoiseDraws * variance));
}

// The p-value of the signs; zeros do not count.
template <class Draw>
double sign_p_value(Draw draw) {
  return sampled_p_value(std::array{0.5, 0.5}, kNoiseDraws, [&] {
    std::int64_t y = draw();
    while (y == 0) y = draw();
    return y > 0;
  });
}

// The p-value of |noise|/scale against a continuous distribution's P[X < x], in cells of 1/10 up to
// 5. The noise must be so wide that its integers do not show.
template <class Draw, class Cdf>
double magnitude_p_value(Draw draw, double scale, Cdf cdf) {
  constexpr int kCells = 50;
  std::vector<double> cells;
  for (int i = 0; i < kCells; ++i) cells.push_back(cdf((i + 1) / 10.0) - cdf(i / 10.0));
  cells.push_back(1 - cdf(kCells / 10.0));
  return sampled_p_value(cells, kNoiseDraws, [&] {
    const double magnitude = std::abs(static_cast<double>(draw()));
    return std::min(10 * magnitude / scale, static_cast<double>(kCells));
  });
}

inline double laplace_probability(double scale, std::int64_t y) {
  const double decay = std::exp(-1 / scale);
  return (1 - decay) / (1 + decay) * std::exp(-std::abs(static_cast<double>(y)) / scale);
}

inline Rational inverse(Rational value) {
  return {value.denominator, value.numerator};
}

class GaussianLaw {
 public:
  explicit GaussianLaw(double sigma_squared) : sigma_squared_(sigma_squared) {
    for (std::int64_t y = -radius(); y <= radius(); ++y) total_ += weight(y);
  }
  double operator()(std::int64_t y) const { return weight(y) / total_; }

  // Less than e^-72 of the mass lies beyond it.
  std::int64_t radius() const { return std::lround(12 * std::sqrt(sigma_squared_)) + 5; }

 private:
  double weight(std::int64_t y) const {
    return std::exp(-static_cast<double>(y) * static_cast<double>(y) / (2 * sigma_squared_));
  }

  double sigma_squared_;
  double total_ = 0;
};

}  // namespace dpquantile::test
