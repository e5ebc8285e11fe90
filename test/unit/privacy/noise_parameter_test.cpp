#include "core/privacy/noise_parameter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/noise_table.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "support/chi_square.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::kFalseAlarm;
using test::sampled_p_value;
using test::TestContext;

TEST(VectorNoise, HasTheVarianceOfItsGuaranteeAndNeverLess) {
  for (const double rho : {kMinRho, 1e-6, 0.005, 0.5, 1.0 / 3, kMaxRho}) {
    for (const std::uint64_t sensitivity : {1ULL, 3ULL, 1ULL << 13, 1ULL << 24}) {
      const double s = static_cast<double>(sensitivity);
      const double least = s * s / (2 * rho);
      const auto variance = static_cast<double>(vector_noise_variance(rho, sensitivity));
      EXPECT_GE(variance, least * (1 + 0x1p-41)) << rho << " " << sensitivity;
      EXPECT_LE(variance, least * (1 + 0x1p-14) + 3) << rho << " " << sensitivity;
    }
  }
}

TEST(VectorNoise, RefusesAmountsAndSensitivitiesOutOfRange) {
  EXPECT_THROW(vector_noise_variance(0, 1), ParameterError);
  EXPECT_THROW(vector_noise_variance(NAN, 1), ParameterError);
  EXPECT_THROW(vector_noise_variance(1, 0), std::invalid_argument);
  EXPECT_THROW(vector_noise_variance(1, (1U << 24) + 1), std::invalid_argument);
}

// Cells of half a sigma, and everything beyond 3 sigma on either side.
TEST(VectorNoise, IsGaussian) {
  constexpr int kCells = 14;
  TestContext context;
  for (const double rho : {kMinRho, 0.005, 0.5}) {
    const uint128_t variance = vector_noise_variance(rho, 1U << 20);
    const NoiseTable table = NoiseTable::gaussian(variance);
    const double sigma = std::sqrt(static_cast<double>(variance));
    const auto cumulative = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
    std::vector<double> law{cumulative(-3)};
    for (int i = 0; i < kCells - 2; ++i) {
      law.push_back(cumulative(-3 + (i + 1) / 2.0) - cumulative(-3 + i / 2.0));
    }
    law.push_back(cumulative(-3));
    const auto draw = [&] {
      const double x = static_cast<double>(table.draw(context.random)) / sigma;
      return x < -3 ? 0 : x >= 3 ? kCells - 1 : 1 + static_cast<int>(std::floor(2 * (x + 3)));
    };
    EXPECT_GT(sampled_p_value(law, 50'000, draw), kFalseAlarm) << rho;
  }
}

}  // namespace
}  // namespace dpquantile
