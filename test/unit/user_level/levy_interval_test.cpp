#include "core/user_level/levy_interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/contributions/fixed_point.hpp"
#include "core/user_level/budget_split.hpp"
#include "support/context_testing.hpp"
#include "support/law_testing.hpp"

namespace dpquantile {
namespace {

using test::TestContext;

constexpr std::uint32_t kOne = FixedPoint::kOne;
using Arrays = std::vector<FilledArray>;

class LevyInterval : public ::testing::Test {
 protected:
  TestContext context_;
};

TEST_F(LevyInterval, HasTheWidthOfHoeffdingsBound) {
  const double tau = std::sqrt(std::log(2 * 50 / 0.2) / (2 * 400));
  EXPECT_EQ(levy_half_width(50, 400), static_cast<std::uint32_t>(std::ceil(tau * kOne)));
  EXPECT_EQ(levy_half_width(50, 1), kOne);
}

// So many arrays that one part finds the bin of the median.
TEST_F(LevyInterval, IsPublicFromAboutAQuarterOfTheRange) {
  EXPECT_EQ(levy_interval_parts(kOne, 1'000'000, pure(1)), 0U);
  EXPECT_EQ(levy_interval_parts(kOne / 128 * 31, 1'000'000, pure(1)), 0U);
  EXPECT_EQ(levy_interval_parts(kOne / 128 * 30, 1'000'000, pure(1)), 1U);
}

// The error of a split, by the definition: the mean's noise, and a third of the range for a miss.
double error_of(unsigned parts, double width, double arrays, double epsilon) {
  const double interval = epsilon * parts / 32;
  const double missed = (std::ceil(2 / width) - 1) * std::exp(-interval * arrays / 4);
  return width / (epsilon - interval) + std::min(1.0, missed) * arrays / 3;
}

TEST_F(LevyInterval, HasTheShareWithTheLeastError) {
  const std::uint32_t half_width = kOne / 100;
  for (const double epsilon : {0.05, 0.3, 1.0, 5.0, 100.0}) {
    for (const std::uint64_t arrays : {1U, 10U, 50U, 200U, 1000U, 30'000U}) {
      double least = 1 / epsilon;
      for (unsigned parts = 1; parts <= 16; ++parts)
        least = std::min(least, error_of(parts, 0.04, static_cast<double>(arrays), epsilon));
      const unsigned parts = levy_interval_parts(half_width, arrays, pure(epsilon));
      const double error =
          parts == 0 ? 1 / epsilon : error_of(parts, 0.04, static_cast<double>(arrays), epsilon);
      EXPECT_NEAR(error, least, 1e-6 * least) << epsilon << " " << arrays;
    }
  }
}

TEST_F(LevyInterval, GetsASmallShareForManyArrays) {
  EXPECT_EQ(levy_interval_parts(kOne / 100, 54, pure(0.1)), 0U);
  EXPECT_EQ(levy_interval_parts(kOne / 100, 1'000'000, pure(1)), 1U);
  EXPECT_LT(levy_interval_parts(kOne / 100, 1000, pure(1)),
            levy_interval_parts(kOne / 100, 200, pure(1)));
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

}  // namespace
}  // namespace dpquantile
