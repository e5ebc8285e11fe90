#include "core/privacy/integer_noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "support/context_testing.hpp"
#include "support/law_testing.hpp"

namespace dpquantile {
namespace {

using test::TestContext;

class GaussianMechanism : public ::testing::Test {
 protected:
  // Counts draws by the part of `parts` equal parts of the normal law in which they fall.
  double normal_p_value(const IntegerQuery& query, double rho, double sigma) {
    constexpr int kDraws = 20'000;
    constexpr std::size_t kParts = 16;
    std::vector<std::uint64_t> observed(kParts);
    for (int i = 0; i < kDraws; ++i) {
      const int128_t noise = gaussian_mechanism(query, rho, context_.random) - query.answer;
      const double below = std::erfc(-static_cast<double>(noise) / sigma / std::sqrt(2)) / 2;
      ++observed[std::min(kParts - 1, static_cast<std::size_t>(below * kParts))];
    }
    return test::law_p_value(observed, std::vector<double>(kParts, 1.0 / kParts));
  }

  TestContext context_;
};

TEST_F(GaussianMechanism, AddsNoNoiseToAConstant) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(gaussian_mechanism({17, 0}, 1, context_.random), 17);
}

TEST_F(GaussianMechanism, FollowsTheDiscreteGaussianLawAroundTheAnswer) {
  constexpr int kDraws = 500'000;
  constexpr int kRadius = 60;
  // sigma^2 = 3^2 / (2 * 1/2) = 9.
  std::vector<double> law(2 * kRadius + 1);
  std::vector<std::uint64_t> observed(law.size());
  double sum = 0;
  for (int y = -kRadius; y <= kRadius; ++y) sum += std::exp(-y * y / 18.0);
  for (int y = -kRadius; y <= kRadius; ++y) {
    law[static_cast<std::size_t>(y + kRadius)] = std::exp(-y * y / 18.0) / sum;
  }
  for (int i = 0; i < kDraws; ++i) {
    const auto y = static_cast<int>(gaussian_mechanism({1000, 3}, 0.5, context_.random) - 1000);
    ASSERT_LE(std::abs(y), kRadius);  // false alarm below 500 000 * e^-200
    ++observed[static_cast<std::size_t>(y + kRadius)];
  }
  EXPECT_GT(test::law_p_value(observed, law), test::kLawFalseAlarm);
}

// Also where the sampler needs coarser units.
TEST_F(GaussianMechanism, HasTheSigmaOfItsRhoForEverySensitivity) {
  for (const double rho : {0x1p-50, 5e-13, 1e-6, 0.005, 0.4, 1.0, 900.0}) {
    for (const std::uint64_t sensitivity : {1ULL, 77ULL, 1ULL << 20, 1ULL << 31, 1ULL << 34}) {
      const double sigma = static_cast<double>(sensitivity) / std::sqrt(2 * rho);
      if (sigma < 1000) continue;  // too coarse for the normal law
      // The units of the least rho make sigma larger by up to 1/32.
      const double slack = rho == 0x1p-50 ? 1.016 : 1;
      const IntegerQuery query{std::uint64_t{1} << 40, sensitivity};
      EXPECT_GT(normal_p_value(query, rho, sigma * slack), test::kLawFalseAlarm)
          << rho << " " << sensitivity;
    }
  }
}

TEST_F(GaussianMechanism, WouldNotPassWithHalfTheSigma) {
  EXPECT_LT(normal_p_value({5, 1000}, 0.005, 5000), test::kLawFalseAlarm);
}

// The unit of the result is 2^d. Were the answer not rounded, two answers one apart would be told
// apart by the lowest bits.
TEST_F(GaussianMechanism, ReleasesMultiplesOfTheUnitForALargeSensitivity) {
  for (const std::uint64_t answer : {12345ULL, 12346ULL}) {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(gaussian_mechanism({answer, 1ULL << 31}, 1e-6, context_.random) % 256, 0);
    }
  }
}

TEST_F(GaussianMechanism, RefusesARhoOutOfRange) {
  for (const double rho : {0.0, 0x1p-51, 1025.0, std::nan("")}) {
    EXPECT_THROW(gaussian_mechanism({5, 3}, rho, context_.random), ParameterError);
  }
}

}  // namespace
}  // namespace dpquantile
