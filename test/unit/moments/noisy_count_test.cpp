#include "core/moments/noisy_count.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "core/base/error.hpp"
#include "support/confidence.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::lower_confidence_bound;
using test::TestContext;

// The false-alarm probability of one check of a coverage. There are 12.
constexpr double kFalseAlarm = 1e-9;
constexpr std::uint64_t kDraws = 3000;

TEST(NoisyCount, IsExactWithAlmostNoNoiseAndNeverNegative) {
  TestContext context;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(release_count(12345, pure(1000), context.random).count, 12345);
    EXPECT_EQ(release_count(12345, zcdp(1000), context.random).count, 12345);
    EXPECT_LT(release_count(0, pure(0.01), context.random).count, 10'000);
  }
  EXPECT_EQ(release_count(std::uint64_t{1} << 63, pure(1000), context.random).count,
            std::uint64_t{1} << 63);
}

TEST(NoisyCount, IsWithinItsErrorNineteenTimesOfTwenty) {
  TestContext context;
  for (const PrivacyParameter& privacy : {pure(0.1), pure(1), zcdp(0.005), zcdp(0.5)}) {
    for (const std::uint64_t exact : {0U, 3U, 100'000U}) {
      std::uint64_t missed = 0;
      for (std::uint64_t i = 0; i < kDraws; ++i) {
        const auto [count, error] = release_count(exact, privacy, context.random);
        missed += (count > exact ? count - exact : exact - count) > error;
      }
      EXPECT_LE(lower_confidence_bound(missed, kDraws, kFalseAlarm), 0.05);
    }
  }
  EXPECT_EQ(release_count(0, pure(1), context.random).error, 3);
  EXPECT_EQ(release_count(0, pure(0.1), context.random).error, 30);
}

TEST(NoisyCount, RefusesAGuaranteeOutOfRange) {
  TestContext context;
  EXPECT_THROW(release_count(0, pure(1e4), context.random), ParameterError);
}

}  // namespace
}  // namespace dpquantile
