#include "core/moments/moments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "support/case_name.hpp"
#include "support/confidence.hpp"
#include "support/context_testing.hpp"
#include "support/random_testing.hpp"
#include "unit/moments/moments_testing.hpp"

namespace dpquantile {
namespace {

using test::case_name;
using test::Exact;
using test::exact_of;
using test::lower_confidence_bound;
using test::repeated;
using test::Rows;
using test::SeededSource;
using test::sums_of;
using test::TestContext;

constexpr MomentsDegree kMean = MomentsDegree::kMean;
constexpr MomentsDegree kVariance = MomentsDegree::kVariance;

Moments release(const Rows& rows, double lower, double upper, MomentsDegree degree,
                const PrivacyParameter& privacy, RandomStream& random) {
  const FixedPoint bounds = FixedPoint::create(lower, upper);
  return release_moments(sums_of(rows, bounds), bounds, degree, privacy, random);
}

// Parts in rows, without noise.
Moments without_noise(std::array<double, 3> parts, MomentsDegree degree, double lower,
                      double upper) {
  return {{degree, PrivacyMeasure::kPure, parts, {1, 1, 1}}, FixedPoint::create(lower, upper)};
}

TEST(Moments, AreReadOffTheParts) {
  const Moments first = without_noise({30, 10, 0}, kMean, 100, 200);
  EXPECT_EQ(first.count().value, 40);
  EXPECT_DOUBLE_EQ(first.mean().value, 125);
  EXPECT_DOUBLE_EQ(first.sum().value, 5000);
  // 20 zeros and 20 ones, scaled.
  const Moments second = without_noise({20, 0, 20}, kVariance, 100, 200);
  EXPECT_EQ(second.count().value, 40);
  EXPECT_DOUBLE_EQ(second.mean().value, 150);
  EXPECT_DOUBLE_EQ(second.sum().value, 6000);
  EXPECT_DOUBLE_EQ(second.variance().value, 2500);
  EXPECT_DOUBLE_EQ(second.stddev().value, 50);
  EXPECT_DOUBLE_EQ(second.sample_variance().value, 2500 * 40.0 / 39);
  EXPECT_DOUBLE_EQ(second.sample_stddev().value, 50 * std::sqrt(40.0 / 39));
  // 40 values in the middle.
  EXPECT_DOUBLE_EQ(without_noise({10, 20, 10}, kVariance, 100, 200).variance().value, 0);
}

TEST(Moments, OfPartsThatNoDataHaveArePossibleValues) {
  for (const double a : {-7.0, 0.0, 1e-9, 3.0, 1e12}) {
    for (const double b : {-7.0, 0.0, 1e-9, 3.0, 1e12}) {
      for (const double c : {-7.0, 0.0, 1e-9, 3.0, 1e12}) {
        const Moments moments = without_noise({a, b, c}, kVariance, -3, 5);
        EXPECT_GE(moments.count().value, 0);
        EXPECT_GE(moments.mean().value, -3);
        EXPECT_LE(moments.mean().value, 5);
        EXPECT_GE(moments.variance().value, 0);
        EXPECT_LE(moments.variance().value, 16);
        EXPECT_LE(moments.stddev().value, 4);
        EXPECT_LE(moments.sample_variance().value, 32);
        EXPECT_LE(moments.mean().error, 8);
        EXPECT_LE(moments.variance().error, 16);
        EXPECT_LE(moments.sample_variance().error, 32);
        for (const Estimate& estimate :
             {moments.count(), moments.sum(), moments.mean(), moments.variance(), moments.stddev(),
              moments.sample_variance(), moments.sample_stddev()}) {
          EXPECT_TRUE(std::isfinite(estimate.value));
          EXPECT_TRUE(std::isfinite(estimate.error));
          EXPECT_GE(estimate.error, 0);
        }
      }
    }
  }
}

// What is released alone is what is released beside its error.
TEST(Moments, HaveTheSameValuesWithoutTheirErrors) {
  SeededSource source;
  TestContext context(source);
  for (const double epsilon : {0.01, 1.0, 100.0}) {
    for (const Rows& rows : {Rows{}, Rows{2}, Rows{-3, 1, 1, 4.5, 5}}) {
      const Moments moments = release(rows, -3, 5, kVariance, pure(epsilon), context.random);
      EXPECT_EQ(moments.mean_value(), moments.mean().value);
      EXPECT_EQ(moments.variance_value(), moments.variance().value);
      EXPECT_EQ(moments.sample_variance_value(), moments.sample_variance().value);
      EXPECT_EQ(moments.stddev_value(), moments.stddev().value);
      EXPECT_EQ(moments.sample_stddev_value(), moments.sample_stddev().value);
    }
  }
}

TEST(Moments, HaveAMeanWhoseErrorIsAtLeastTheOther) {
  for (const double a : {-7.0, 0.0, 0.5, 3.0, 40.0, 1e6}) {
    for (const double b : {-7.0, 0.0, 0.5, 3.0, 40.0, 1e6}) {
      const Moments moments = without_noise({a, b, 0}, kMean, -3, 5);
      const Estimate mean = moments.mean();
      const Estimate at_once = moments.mean_at_most();
      EXPECT_EQ(at_once.value, mean.value);
      EXPECT_GE(at_once.error, mean.error * (1 - 0x1p-40));
      EXPECT_LE(at_once.error, 8 * (1 + 0x1p-40));
      if (a >= 0 && b >= 0 && a + b > 0) {
        EXPECT_LE(at_once.error, 2 * mean.error);
      }
    }
  }
}

TEST(Moments, HaveSpreadsWhoseErrorsAreAtLeastTheOthers) {
  for (const double a : {-7.0, 0.0, 3.0, 40.0, 1e6}) {
    for (const double b : {-7.0, 0.0, 3.0, 40.0, 1e6}) {
      for (const double c : {-7.0, 0.0, 3.0, 40.0, 1e6}) {
        const Moments moments = without_noise({a, b, c}, kVariance, -3, 5);
        const auto expect_at_most = [](const Moments::Spread& one, const Moments::Spread& other) {
          EXPECT_EQ(one.variance.value, other.variance.value);
          EXPECT_EQ(one.stddev.value, other.stddev.value);
          EXPECT_LE(one.variance.error, other.variance.error * (1 + 0x1p-40));
          EXPECT_LE(one.stddev.error, other.stddev.error * (1 + 0x1p-40));
        };
        expect_at_most(moments.spread(), moments.spread_at_most());
        expect_at_most(moments.sample_spread(), moments.sample_spread_at_most());
      }
    }
  }
}

TEST(Moments, WithoutRowsAreTheMiddleAndItsWholeRange) {
  const Moments nothing = without_noise({-2, -1, -4}, kVariance, -3, 5);
  EXPECT_EQ(nothing.count().value, 0);
  EXPECT_EQ(nothing.mean().value, 1);
  EXPECT_GE(nothing.mean().error, 4);
  EXPECT_EQ(nothing.variance().value, 0);
  EXPECT_EQ(nothing.variance().error, 16);
  EXPECT_EQ(nothing.stddev().error, 4);
}

// With so much noise more than one mean in ten is at each bound, so 200 miss one of them with a
// probability below 1e-8.
TEST(Moments, AreWithinTheStatedBoundsAlsoWithoutRows) {
  SeededSource source;
  TestContext context(source);
  for (const Rows& rows : {Rows{}, Rows{1}}) {
    for (const MomentsDegree degree : {kMean, kVariance}) {
      double least = 5;
      double most = -3;
      for (int i = 0; i < 200; ++i) {
        const double mean = release(rows, -3, 5, degree, pure(1e-6), context.random).mean().value;
        least = std::min(least, mean);
        most = std::max(most, mean);
      }
      EXPECT_EQ(least, -3);
      EXPECT_EQ(most, 5);
    }
  }
}

// Cut off at 0, the sums of small groups would not add up.
TEST(Moments, HaveASumOfAnySign) {
  EXPECT_EQ(without_noise({-9, -9, 0}, kMean, 1, 2).sum().value, -27);
  EXPECT_EQ(without_noise({-9, -9, 0}, kMean, -2, -1).sum().value, 27);
  EXPECT_EQ(without_noise({-9, -9, 0}, kVariance, 0, 2).sum().value, -9);
}

// Noise may take the mean or the variance farther out of the possible range than its error. The
// nearest possible value is then the answer, and never a certain one.
TEST(Moments, AreNeverCertain) {
  for (const double beyond : {2.0, 5.0, 20.0, 50.0}) {
    const Moments below = without_noise({100 + beyond, 0, -beyond}, kVariance, 0, 1);
    EXPECT_EQ(below.mean().value, 0);
    EXPECT_GT(below.mean().error, 0.01);
    EXPECT_EQ(below.variance().value, 0);
    EXPECT_GT(below.variance().error, 0.01);
    EXPECT_GT(below.stddev().error, 0.1);
    EXPECT_GT(below.sample_variance().error, 0.01);
    EXPECT_GT(below.sample_stddev().error, 0.1);
    const Moments above = without_noise({-beyond, 0, 100 + beyond}, kVariance, 0, 1);
    EXPECT_EQ(above.mean().value, 1);
    EXPECT_GT(above.mean().error, 0.01);
    EXPECT_GT(without_noise({100 + beyond, -beyond, 0}, kMean, 0, 1).mean().error, 0.01);
    // The middle part alone is too small: more variance than any values have.
    const Moments wide = without_noise({50, -beyond, 50}, kVariance, 0, 1);
    EXPECT_GT(wide.variance().error, 0.005);
  }
}

TEST(Moments, OfHugeBoundsAreFinite) {
  const Moments huge = without_noise({1e15, 1e15, 0}, kMean, -8e307, 8e307);
  EXPECT_TRUE(std::isfinite(huge.sum().value) && std::isfinite(huge.sum().error));
  EXPECT_TRUE(std::isfinite(huge.mean().value) && std::isfinite(huge.mean().error));
  EXPECT_THROW(without_noise({1, 1, 1}, kVariance, -8e307, 8e307), ParameterError);
}

// --- Coverage ------------------------------------------------------------------------------------

struct Case {
  std::string name;
  Rows rows;
  double lower;
  double upper;
  PrivacyParameter privacy;
  bool tight;  // whether the errors must be as small as possible, too
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

// How often an estimate missed the exact value, how wide its errors were and how large the
// deviations.
struct Record {
  std::uint64_t missed = 0;
  double errors = 0;
  std::vector<double> deviations;

  void add(const Estimate& estimate, double exact) {
    const double deviation = std::abs(estimate.value - exact);
    missed += deviation > estimate.error + 1e-12 * std::abs(exact);
    errors += estimate.error;
    deviations.push_back(deviation);
  }
  double mean_error() const { return errors / static_cast<double>(deviations.size()); }
  double quantile_95() {
    const auto at = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() * 95 / 100);
    std::nth_element(deviations.begin(), at, deviations.end());
    return *at;
  }
};

class MomentsCoverage : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr std::uint64_t kReleases = 1000;

  // The noise is the same in every run of the test.
  void expect_covered(Record& record, const char* statistic, double least = 0) {
    EXPECT_LE(lower_confidence_bound(record.missed, kReleases, 1e-4), 0.05) << statistic;
    if (!GetParam().tight) return;
    EXPECT_LE(record.mean_error(), 1.3 * std::max(record.quantile_95(), least)) << statistic;
  }
};

TEST_P(MomentsCoverage, IsNineteenOfTwentyForDegreeOne) {
  SeededSource source;
  TestContext context(source);
  const auto& [name, rows, lower, upper, privacy, tight] = GetParam();
  const Exact exact = exact_of(rows);
  Record count;
  Record sum;
  Record mean;
  for (std::uint64_t i = 0; i < kReleases; ++i) {
    const Moments moments = release(rows, lower, upper, kMean, privacy, context.random);
    count.add(moments.count(), exact.count);
    sum.add(moments.sum(), exact.sum);
    mean.add(moments.mean(), exact.mean);
  }
  expect_covered(count, "count", 2);
  expect_covered(sum, "sum");
  expect_covered(mean, "mean");
}

TEST_P(MomentsCoverage, IsNineteenOfTwentyForDegreeTwo) {
  SeededSource source;
  TestContext context(source);
  const auto& [name, rows, lower, upper, privacy, tight] = GetParam();
  const Exact exact = exact_of(rows);
  Record count;
  Record sum;
  Record mean;
  Record variance;
  Record stddev;
  Record sample_variance;
  Record sample_stddev;
  for (std::uint64_t i = 0; i < kReleases; ++i) {
    const Moments moments = release(rows, lower, upper, kVariance, privacy, context.random);
    count.add(moments.count(), exact.count);
    sum.add(moments.sum(), exact.sum);
    mean.add(moments.mean(), exact.mean);
    variance.add(moments.variance(), exact.variance);
    stddev.add(moments.stddev(), std::sqrt(exact.variance));
    sample_variance.add(moments.sample_variance(), exact.sample_variance);
    sample_stddev.add(moments.sample_stddev(), std::sqrt(exact.sample_variance));
  }
  expect_covered(count, "count", 2);
  expect_covered(sum, "sum");
  expect_covered(mean, "mean");
  expect_covered(variance, "variance");
  expect_covered(stddev, "stddev");
  expect_covered(sample_variance, "sample variance");
  expect_covered(sample_stddev, "sample stddev");
}

const Rows kAges = {17, 23, 25, 31, 34, 38, 39, 40, 46, 52, 61, 74};
const Rows kEnds = {0, 1};
const Rows kMiddle = {0.3, 0.5, 0.7};

const std::vector<Case> kCases = {
    {"AgesOf1000", repeated(1000, kAges), 0, 120, pure(1), true},
    {"AgesOf200", repeated(200, kAges), 0, 120, pure(0.1), false},
    {"AgesOf20", repeated(20, kAges), 0, 120, pure(0.1), false},
    {"AgesOf10000", repeated(10'000, kAges), 0, 120, pure(0.1), true},
    {"AgesUnderRho", repeated(1000, kAges), 0, 120, zcdp(0.5), true},
    {"AgesUnderALittleRho", repeated(200, kAges), 0, 120, zcdp(0.0005), false},
    {"EndsOf1000", repeated(1000, kEnds), 0, 1, pure(1), true},
    {"EndsOf2", repeated(2, kEnds), 0, 1, pure(1), false},
    {"EndsOf30UnderRho", repeated(30, kEnds), 0, 1, zcdp(0.005), false},
    {"MiddleOf1000", repeated(1000, kMiddle), 0, 1, pure(1), true},
    {"MiddleOf1000UnderRho", repeated(1000, kMiddle), 0, 1, zcdp(0.5), true},
    {"ConstantAtABound", repeated(2000, {7}), 7, 9, pure(1), false},
    {"ConstantAtTheOtherBound", repeated(50, {9}), 7, 9, pure(0.5), false},
    {"ConstantInside", repeated(2000, {7.7}), 7, 9, pure(1), false},
    {"NegativeValues", repeated(1000, {-3, -2, -7}), -10, -1, pure(1), true},
    {"BothSigns", repeated(1000, {-3, 2, 7}), -10, 20, pure(1), true},
    {"ThreeRows", {1, 2, 8}, 0, 10, pure(1), false},
    {"ThreeRowsWithLittleNoise", {1, 2, 8}, 0, 10, pure(100), false},
};

INSTANTIATE_TEST_SUITE_P(All, MomentsCoverage, ::testing::ValuesIn(kCases), case_name);

// Half of the values are at the lower bound and half at the next double, so the exact mean is
// between two doubles, and the noise is far below their distance. The answer is one of them.
TEST(MomentsErrors, HoldWhereTheAnswerIsRoundedToADouble) {
  constexpr double kLower = 1.7e9;
  const FixedPoint bounds = FixedPoint::create(kLower, kLower + 0.001);
  const double next = std::nextafter(kLower, INFINITY);
  const Rows rows = repeated(100'000, {kLower, next});
  SeededSource source;
  TestContext context(source);
  for (const MomentsDegree degree : {MomentsDegree::kMean, MomentsDegree::kVariance}) {
    const Moments moments =
        release_moments(sums_of(rows, bounds), bounds, degree, pure(1), context.random);
    const Estimate mean = moments.mean();
    EXPECT_LE((next - kLower) / 2, mean.error);
    EXPECT_LE(mean.error, 4 * (next - kLower));
  }
}

// Two rows at the bounds have the largest variance and deviation that there are, at the end of the
// interval. What misses them by rounding alone would be a miss.
TEST(MomentsErrors, HoldWhereTheStatisticIsTheLargestOne) {
  constexpr double kFarFromRounding = 1e-9;
  const Rows rows{0, 120};
  const FixedPoint bounds = FixedPoint::create(0, 120);
  const Exact exact = exact_of(rows);
  SeededSource source;
  TestContext context(source);
  for (int run = 0; run < 500; ++run) {
    const Moments moments =
        release_moments(sums_of(rows, bounds), bounds, kVariance, pure(1), context.random);
    const auto holds = [](const Estimate& estimate, double truth) {
      const double miss = std::abs(estimate.value - truth) - estimate.error;
      return miss <= 0 || miss > kFarFromRounding * truth;
    };
    EXPECT_TRUE(holds(moments.variance(), exact.variance));
    EXPECT_TRUE(holds(moments.stddev(), std::sqrt(exact.variance)));
    EXPECT_TRUE(holds(moments.sample_variance(), exact.sample_variance));
    EXPECT_TRUE(holds(moments.sample_stddev(), std::sqrt(exact.sample_variance)));
  }
}

}  // namespace
}  // namespace dpquantile
