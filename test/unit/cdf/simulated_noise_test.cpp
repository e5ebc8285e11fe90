#include "core/cdf/simulated_noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/cdf_testing.hpp"
#include "support/chi_square.hpp"

// The fixed seed makes these tests give the same result every time.
namespace dpquantile {
namespace {

using test::noise_probability;

// The p-value of draws against the exact law. Values in the tails, rarer than 10^-5, share a cell.
template <class Draw>
double p_value(PrivacyMeasure measure, double budget, Draw draw) {
  std::int64_t radius = 0;
  while (noise_probability(measure, budget, radius + 1) > 1e-5L) ++radius;
  std::vector<double> cells;
  double rest = 1;
  for (std::int64_t y = -radius; y <= radius; ++y) {
    cells.push_back(static_cast<double>(noise_probability(measure, budget, y)));
    rest -= cells.back();
  }
  cells.push_back(std::max(rest, 0.0));
  return test::sampled_p_value(cells, 1'000'000, [&] {
    const double y = draw();
    const auto value = static_cast<std::int64_t>(y);
    EXPECT_EQ(static_cast<double>(value), y);
    return std::abs(value) > radius ? cells.size() - 1 : static_cast<std::size_t>(value + radius);
  });
}

TEST(SimulatedNoise, FollowsTheDiscreteLaplaceLaw) {
  SimulatedNoise noise;
  for (const double epsilon : {0.05, 0.7, 3.0}) {
    EXPECT_GT(p_value(PrivacyMeasure::kPure, epsilon, [&] { return noise.laplace(epsilon); }), 1e-3)
        << epsilon;
  }
}

TEST(SimulatedNoise, FollowsTheDiscreteGaussianLaw) {
  SimulatedNoise noise;
  for (const double rho : {0.0005, 0.02, 0.3, 0.5, 0.6, 2.0}) {
    EXPECT_GT(p_value(PrivacyMeasure::kZcdp, rho, [&] { return noise.gaussian(1 / (2 * rho)); }),
              1e-3)
        << rho;
  }
}

// The noise is wider than any table. The mean square of a million draws is sigma^2 within five
// standard errors.
TEST(SimulatedNoise, HasTheVarianceOfAWideGaussianLaw) {
  SimulatedNoise noise;
  for (const double sigma_squared : {1e6, 1e12, 0x1p49}) {
    constexpr int kDraws = 1'000'000;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double y = noise.gaussian(sigma_squared);
      sum += y * y / sigma_squared;
    }
    EXPECT_NEAR(sum / kDraws, 1, 5 * std::sqrt(2.0 / kDraws)) << sigma_squared;
  }
}

TEST(SimulatedNoise, IsZeroForHardlyAnyVariance) {
  SimulatedNoise noise;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(noise.gaussian(1 / 2000.0), 0);
}

}  // namespace
}  // namespace dpquantile
