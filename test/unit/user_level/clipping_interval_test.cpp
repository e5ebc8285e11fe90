#include "core/user_level/clipping_interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/contributions/fixed_point.hpp"
#include "support/context_testing.hpp"
#include "support/law_testing.hpp"

namespace dpquantile {
namespace {

using test::TestContext;

constexpr std::uint32_t kOne = FixedPoint::kOne;
using Arrays = std::vector<FilledArray>;

class Intervals : public ::testing::Test {
 protected:
  TestContext context_;
};

using LevyInterval = Intervals;
using QuantileInterval = Intervals;

TEST_F(LevyInterval, HasTheWidthOfHoeffdingsBound) {
  const double tau = std::sqrt(std::log(2 * 50 / 0.2) / (2 * 400));
  EXPECT_EQ(levy_half_width(50, 400), static_cast<std::uint32_t>(std::ceil(tau * kOne)));
  EXPECT_EQ(levy_half_width(50, 1), kOne);
}

// So many arrays that only the bin of the median is drawn.
TEST_F(LevyInterval, IsPublicFromAnEighthOfTheRange) {
  EXPECT_TRUE(levy_interval_is_public(kOne, 1000, 1));
  EXPECT_TRUE(levy_interval_is_public(kOne / 8, 1000, 1));
  EXPECT_FALSE(levy_interval_is_public(kOne / 8 - 1, 1000, 1));
  EXPECT_FALSE(levy_interval_is_public(kOne / 1000, 1000, 1));
}

// There are 50 bins, and the width is 4/100. With x = epsilon times the arrays, the bin is missed
// with probability min(1, 49 e^(-x / 8)), which costs x / 3 times that: less than 0.94 from x = 55
// on.
TEST_F(LevyInterval, IsPublicWhereItsBinIsOftenMissed) {
  const std::uint32_t half_width = kOne / 100;
  const auto is_public = [&](std::uint64_t arrays, double epsilon) {
    return levy_interval_is_public(half_width, arrays, epsilon);
  };
  EXPECT_TRUE(is_public(3, 1));
  EXPECT_TRUE(is_public(10, 5));
  EXPECT_TRUE(is_public(54, 1));
  EXPECT_FALSE(is_public(57, 1));
  EXPECT_FALSE(is_public(1, 100));
  EXPECT_FALSE(is_public(1000, 0.1));
  // A miss costs less than the noise of the whole range.
  EXPECT_FALSE(is_public(1, 1));
}

TEST_F(LevyInterval, ExtendsTwoHalfWidthsFromTheMiddleOfABin) {
  const Arrays arrays(100, FilledArray{4, 4 * std::uint64_t{kOne / 2}});
  const std::uint32_t half_width = kOne / 40;
  for (int i = 0; i < 200; ++i) {
    const ClippingInterval interval = draw_levy_interval(arrays, half_width, 1, context_);
    EXPECT_LE(interval.low, interval.high);
    EXPECT_LE(interval.high, kOne);
    EXPECT_LE(interval.high - interval.low, 4 * half_width);
  }
  // At epsilon = 1000 another bin has a probability of e^-10000 or less.
  const ClippingInterval interval = draw_levy_interval(arrays, half_width, 1000, context_);
  EXPECT_LE(interval.low + half_width, kOne / 2);
  EXPECT_GE(interval.high - half_width, kOne / 2);
}

// The law of the bins in tenths of the range, by the definition of their costs.
std::vector<double> law_of_bins(const std::vector<int>& arrays_in_bin, double epsilon) {
  const int all = std::accumulate(arrays_in_bin.begin(), arrays_in_bin.end(), 0);
  std::vector<double> law;
  int below = 0;
  for (const int here : arrays_in_bin) {
    const double above = all - below - here;
    law.push_back(std::exp(-epsilon / 2 * std::max({0.0, below - all / 2.0, above - all / 2.0})));
    below += here;
  }
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& probability : law) probability /= sum;
  return law;
}

TEST_F(LevyInterval, FollowsTheLawOfTheProof) {
  constexpr int kDraws = 100'000;
  constexpr std::uint32_t kHalfWidth = kOne / 20 + 1;
  const std::vector<std::vector<int>> cases = {{1, 0, 0, 0, 0, 0, 0, 0, 0, 3},
                                               {0, 0, 4, 0, 0, 0, 0, 0, 0, 0},
                                               {3, 0, 0, 2, 1, 0, 0, 5, 0, 0},
                                               {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  for (const std::vector<int>& arrays_in_bin : cases) {
    for (const double epsilon : {1e-6, 0.8, 3.0}) {
      Arrays arrays;
      for (std::uint32_t bin = 0; bin < 10; ++bin) {
        const std::uint64_t mean = (2 * bin + 1) * std::uint64_t{kHalfWidth};
        arrays.insert(arrays.end(), static_cast<std::size_t>(arrays_in_bin[bin]), {7, 7 * mean});
      }
      std::vector<std::uint64_t> observed(10);
      for (int i = 0; i < kDraws; ++i) {
        const ClippingInterval interval = draw_levy_interval(arrays, kHalfWidth, epsilon, context_);
        const std::uint32_t bin = interval.low == 0
                                      ? interval.high / (2 * kHalfWidth) - 1
                                      : (interval.low + kHalfWidth) / (2 * kHalfWidth);
        ++observed[bin];
      }
      EXPECT_GT(test::law_p_value(observed, law_of_bins(arrays_in_bin, epsilon)),
                test::kLawFalseAlarm)
          << epsilon;
    }
  }
}

TEST_F(QuantileInterval, HoldsMostArrayMeans) {
  Arrays arrays;
  for (std::uint64_t i = 0; i < 1000; ++i) arrays.push_back({10, 10 * (i * (kOne / 1000))});
  // At epsilon = 1000 an answer 20 ranks off has a probability of e^-4000.
  const ClippingInterval interval = draw_quantile_interval(arrays, 0.1, 1000, context_);
  EXPECT_NEAR(interval.low / double{kOne}, 0.1, 0.025);
  EXPECT_NEAR(interval.high / double{kOne}, 0.9, 0.025);
}

TEST_F(QuantileInterval, IsNotEmptyWhenItsEndsAreDrawnInReverse) {
  const Arrays arrays = {{1, 0}, {1, kOne}, {3, kOne}};
  for (const double tail : {0.0, 0.1, 0.5}) {
    for (int i = 0; i < 500; ++i) {
      const ClippingInterval interval = draw_quantile_interval(arrays, tail, 1e-6, context_);
      EXPECT_LT(interval.low, interval.high);
      EXPECT_LE(interval.high, kOne);
    }
  }
}

}  // namespace
}  // namespace dpquantile
