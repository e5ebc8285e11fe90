#include "core/privacy/integer_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/zcdp.hpp"
#include "support/chi_square.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::kFalseAlarm;
using test::sampled_p_value;
using test::TestContext;

constexpr double kSpentPart = 1 + 0x1p-40;

TEST(IntegerNoise, HasTheSpreadOfItsGuaranteeAndNeverLess) {
  for (const double amount : {1e-6, 0.1, 1.0, 1000.0}) {
    for (const std::uint64_t sensitivity : {1ULL, 3ULL, (1ULL << 31) + 2, 1ULL << 32}) {
      const double s = static_cast<double>(sensitivity);
      const double scale = IntegerNoise(pure(amount), sensitivity).spread();
      EXPECT_GE(scale, s / amount * kSpentPart * (1 - 0x1p-50));
      EXPECT_LE(scale, s / amount * (1 + 0x1p-18));
    }
  }
  for (const double rho : {1e-12, 0.005, 0.5, 1000.0}) {
    for (const int bits : {0, 5, 10, gaussian_sensitivity_bits(rho, 31)}) {
      const std::uint64_t sensitivity = (1ULL << bits) + 2;
      const double s = static_cast<double>(sensitivity);
      const double variance = std::pow(IntegerNoise(zcdp(rho), sensitivity).spread(), 2);
      EXPECT_GE(variance, s * s / (2 * rho) * kSpentPart * (1 - 0x1p-50));
      EXPECT_LE(variance, s * s / (2 * rho) * (1 + 0x1p-18));
    }
  }
}

TEST(IntegerNoise, LeavesRoomForAtLeastTenBitsUnderEveryRho) {
  EXPECT_EQ(gaussian_sensitivity_bits(kMinRho, 31), 10);
  EXPECT_EQ(gaussian_sensitivity_bits(0.005, 31), 26);
  EXPECT_EQ(gaussian_sensitivity_bits(kMaxRho, 31), 31);
  EXPECT_EQ(gaussian_sensitivity_bits(kMaxRho, 20), 20);
}

TEST(IntegerNoise, RefusesAmountsOutOfRangeAndNoiseThatIsTooWide) {
  EXPECT_THROW(IntegerNoise(pure(1e-7), 1), ParameterError);
  EXPECT_THROW(IntegerNoise(pure(NAN), 1), ParameterError);
  EXPECT_THROW(IntegerNoise(zcdp(0), 1), ParameterError);
  EXPECT_THROW(IntegerNoise(zcdp(1e-12), 1U << 31), ParameterError);
}

// The probabilities of -8 .. 8 and of everything beyond on either side, for weights of the
// integers.
template <class Weight>
std::vector<double> law_of(Weight weight) {
  double all = 0;
  for (int y = -400; y <= 400; ++y) all += weight(y);
  std::vector<double> law(19);
  for (int y = -400; y <= 400; ++y) {
    law[static_cast<std::size_t>(std::min(std::max(y, -9), 9) + 9)] += weight(y) / all;
  }
  return law;
}

double p_value_of(const IntegerNoise& noise, const std::vector<double>& law) {
  TestContext context;
  return sampled_p_value(law, 20'000, [&] {
    return std::min<std::int64_t>(std::max<std::int64_t>(noise.draw(context.random), -9), 9) + 9;
  });
}

TEST(IntegerNoise, IsDiscreteLaplaceUnderEpsilonAndDiscreteGaussianUnderRho) {
  const std::vector<double> laplace = law_of([](int y) { return std::exp(-std::abs(y) / 3.0); });
  const std::vector<double> gaussian = law_of([](int y) { return std::exp(-y * y / 18.0); });
  EXPECT_GT(p_value_of(IntegerNoise(pure(2.0 / 3), 2), laplace), kFalseAlarm);
  EXPECT_GT(p_value_of(IntegerNoise(zcdp(2.0 / 9), 2), gaussian), kFalseAlarm);
  EXPECT_LT(p_value_of(IntegerNoise(pure(2.0 / 3), 1), laplace), kFalseAlarm);
  EXPECT_LT(p_value_of(IntegerNoise(zcdp(2.0 / 9), 1), gaussian), kFalseAlarm);
}

TEST(IntegerNoise, CostsItsGuarantee) {
  const PrivacyCost pure_noise = integer_noise_cost(pure(0.5));
  EXPECT_EQ(pure_noise.epsilon, 0.5);
  EXPECT_EQ(pure_noise.rho, rho_of_pure(0.5));
  const PrivacyCost gaussian = integer_noise_cost(zcdp(0.5));
  EXPECT_FALSE(gaussian.epsilon);
  EXPECT_EQ(gaussian.rho, 0.5);
}

}  // namespace
}  // namespace dpquantile
