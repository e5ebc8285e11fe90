#include "core/moments/moments_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/moments/moments.hpp"
#include "support/context_testing.hpp"
#include "support/random_testing.hpp"
#include "unit/moments/moments_testing.hpp"

namespace dpquantile {
namespace {

using test::Exact;
using test::exact_of;
using test::repeated;
using test::Rows;
using test::SeededSource;
using test::sums_of;
using test::TestContext;

constexpr MomentsDegree kMean = MomentsDegree::kMean;
constexpr MomentsDegree kVariance = MomentsDegree::kVariance;

struct MeanErrors {
  double count = 0;
  double sum = 0;
  double mean = 0;
  double variance = 0;
  double stddev = 0;
  double sample_variance = 0;
  double sample_stddev = 0;
};

MeanErrors measured(const Rows& rows, double lower, double upper, MomentsDegree degree,
                    const PrivacyParameter& privacy) {
  constexpr int kReleases = 4000;
  SeededSource source;
  TestContext context(source);
  const Exact exact = exact_of(rows);
  MeanErrors errors;
  for (int i = 0; i < kReleases; ++i) {
    const FixedPoint bounds = FixedPoint::create(lower, upper);
    const NoisyBernsteinSums sums =
        release_bernstein_sums(sums_of(rows, bounds), degree, privacy, context.random);
    const Moments moments(sums, bounds);
    errors.count += std::abs(sums.rows() - exact.count) / kReleases;
    errors.sum += std::abs(moments.sum().value - exact.sum) / kReleases;
    errors.mean += std::abs(moments.mean().value - exact.mean) / kReleases;
    if (degree == kMean) continue;
    errors.variance += std::abs(moments.variance().value - exact.variance) / kReleases;
    errors.stddev += std::abs(moments.stddev().value - std::sqrt(exact.variance)) / kReleases;
    errors.sample_variance +=
        std::abs(moments.sample_variance().value - exact.sample_variance) / kReleases;
    errors.sample_stddev +=
        std::abs(moments.sample_stddev().value - std::sqrt(exact.sample_variance)) / kReleases;
  }
  return errors;
}

// The noise is the same in every run. Its mean over 4000 releases is right within some 5 %.
TEST(MomentsExpectedError, IsThatOfTheWorstDataAndAtLeastThatOfOthers) {
  constexpr double kSampling = 1.06;
  for (const PrivacyParameter& privacy : {pure(1), zcdp(0.5)}) {
    for (const MomentsDegree degree : {kMean, kVariance}) {
      const MomentsError forecast = moments_expected_error(1000, degree, privacy, -2, 6);
      for (const Rows& pattern :
           {Rows{-2}, Rows{6}, Rows{-2, 6}, Rows{2}, Rows{-1, 0, 3}, Rows{-1.9}}) {
        const MeanErrors errors = measured(repeated(1000, pattern), -2, 6, degree, privacy);
        EXPECT_NEAR(errors.count / forecast.count, 1, 0.06);
        EXPECT_NEAR(errors.sum / forecast.sum, 1, 0.06);
        EXPECT_LE(errors.mean, kSampling * forecast.mean);
        if (degree == kMean) continue;
        EXPECT_LE(errors.variance, kSampling * *forecast.variance);
        EXPECT_LE(errors.stddev, kSampling * *forecast.stddev);
      }
    }
  }
}

// The errors of the population statistics would be too small for these. The noise is the same in
// every run.
TEST(MomentsExpectedError, IsAtLeastThatOfSampleStatisticsOfFewRows) {
  struct FewRows {
    Rows rows;
    double epsilon;
  };
  const FewRows cases[] = {{{0, 1}, 1},    {{0, 1}, 0.1},        {{0, 1}, 10},
                           {{0, 1, 1}, 1}, {{0.2, 0, 0, 0}, 50}, {{0.2, 0, 0, 0, 0}, 100}};
  for (const auto& [rows, epsilon] : cases) {
    const auto forecast =
        moments_expected_error(static_cast<double>(rows.size()), kVariance, pure(epsilon), 0, 1);
    const MeanErrors errors = measured(rows, 0, 1, kVariance, pure(epsilon));
    EXPECT_LE(errors.variance, *forecast.variance);
    EXPECT_LE(errors.stddev, *forecast.stddev);
    EXPECT_LE(errors.sample_variance, *forecast.sample_variance);
    EXPECT_LE(errors.sample_stddev, *forecast.sample_stddev);
  }
}

// With little noise a count, which is rounded, is mostly exact.
TEST(MomentsExpectedError, IsThatOfARoundedCount) {
  const Rows rows = repeated(50, {-2, 6, 1});
  for (const PrivacyParameter& privacy : {pure(5), zcdp(5)}) {
    for (const MomentsDegree degree : {kMean, kVariance}) {
      SeededSource source;
      TestContext context(source);
      constexpr int kReleases = 20'000;
      double error = 0;
      for (int i = 0; i < kReleases; ++i) {
        const FixedPoint bounds = FixedPoint::create(-2, 6);
        const Moments moments(
            release_bernstein_sums(sums_of(rows, bounds), degree, privacy, context.random), bounds);
        error += std::abs(moments.count().value - 50) / kReleases;
      }
      const double forecast = moments_expected_error(50, degree, privacy, -2, 6).count;
      EXPECT_NEAR(forecast / error, 1, 0.08);
    }
  }
}

TEST(MomentsExpectedError, IsAtMostTheWholeRange) {
  const MomentsError forecast = moments_expected_error(1, kVariance, pure(0.01), -2, 6);
  EXPECT_EQ(forecast.mean, 8);
  EXPECT_EQ(forecast.variance, 16);
  EXPECT_EQ(forecast.stddev, 4);
  EXPECT_EQ(forecast.sample_variance, 32);
  EXPECT_DOUBLE_EQ(*forecast.sample_stddev, 8 * std::sqrt(0.5));
  EXPECT_FALSE(moments_expected_error(1, kMean, pure(1), 0, 1).variance);
  EXPECT_THROW(moments_expected_error(0.5, kMean, pure(1), 0, 1), ParameterError);
  EXPECT_THROW(moments_expected_error(NAN, kMean, pure(1), 0, 1), ParameterError);
}

}  // namespace
}  // namespace dpquantile
