#include "core/cdf/cdf_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "support/cdf_testing.hpp"
#include "support/parameter_error.hpp"

namespace dpquantile {
namespace {

using test::cdf_curve;
using test::cdf_plan;
using test::Cumulative;
using test::expect_parameter_error;
using test::heap;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

CdfCurve curve_over(const CdfDomain& domain, const Cumulative& cumulative) {
  return cdf_curve(domain, choose_cdf_plan(CdfMethod::kHistogram, domain.bins, pure(1)),
                   cumulative);
}

CdfCurve continuous(double lower, double upper, const Cumulative& cumulative) {
  const auto bins = static_cast<double>(cumulative.size());
  return curve_over(CdfDomain::create(lower, upper, bins, std::nullopt), cumulative);
}

CdfCurve discrete(double lower, double upper, double granularity, const Cumulative& cumulative) {
  return curve_over(CdfDomain::create(lower, upper, std::nullopt, granularity), cumulative);
}

// --- By definition -------------------------------------------------------------------------------

std::int64_t rows_in(const CdfCurve& curve, std::uint32_t bin) {
  return curve.cumulative()[bin] - (bin == 0 ? 0 : curve.cumulative()[bin - 1]);
}

// The rows of a continuous bin are spread evenly over it, those of a discrete one have its value.
double count_by_definition(const CdfCurve& curve, double from, double to) {
  double rows = 0;
  for (std::uint32_t i = 0; i < curve.domain().bins; ++i) {
    const auto in_bin = static_cast<double>(rows_in(curve, i));
    const double begin = curve.domain().point(i);
    if (curve.domain().discrete()) {
      if (from <= begin && begin <= to) rows += in_bin;
    } else {
      const double end = curve.domain().point(i + 1);
      const double overlap = std::min(to, end) - std::max(from, begin);
      rows += in_bin * std::clamp(overlap / (end - begin), 0.0, 1.0);
    }
  }
  return rows;
}

double probability_by_definition(const CdfCurve& curve, double x) {
  return count_by_definition(curve, -kInfinity, x) / static_cast<double>(curve.rows());
}

// By bisection between the bounds; a discrete curve's values are tried one by one.
double quantile_by_definition(const CdfCurve& curve, double q) {
  const auto reaches = [&](double x) {
    const double probability = probability_by_definition(curve, x);
    return probability > 0 && probability >= q;
  };
  if (curve.domain().discrete()) {
    std::uint32_t i = 0;
    while (!reaches(curve.domain().point(i))) ++i;
    return curve.domain().point(i);
  }
  double low = curve.domain().lower;
  double high = curve.domain().upper;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::midpoint(low, high);
    (reaches(middle) ? high : low) = middle;
  }
  return high;
}

std::vector<CdfCurve> curves() {
  return {
      continuous(0, 10, {1, 4, 4, 4, 10}),
      continuous(-2.5, 3.5, {0, 0, 7, 7}),
      continuous(0, 0.3, {3, 5, 9}),
      continuous(1e9, 1e9 + 100, {0, 50, 60, 60, 70, 70, 100}),
      continuous(5, 6, {3}),
      discrete(0, 4, 1, {1, 4, 4, 4, 10}),
      discrete(-1, 1, 0.1, {0, 0, 1, 2, 3, 3, 3, 5, 8, 8, 9, 9, 9, 9, 9, 12, 12, 12, 13, 13, 13}),
      discrete(0, 10, 3, {2, 3, 5, 9}),
      discrete(0, 11, 3, {2, 3, 5, 9, 12}),
      discrete(100, 101, 5, {8}),
      discrete(0, 99, 1,
               [] {
                 Cumulative cumulative;
                 for (int i = 1; i <= 100; ++i) cumulative.push_back(i);
                 return cumulative;
               }()),
  };
}

// Points of the curve, points between and next to them, and points out of bounds.
std::vector<double> places_on(const CdfCurve& curve) {
  const CdfDomain& domain = curve.domain();
  const double width = (domain.upper - domain.lower) / domain.bins;
  std::vector<double> places = {-kInfinity,   domain.lower - 1,           domain.lower,
                                domain.upper, domain.upper + 0.4 * width, domain.upper + 7,
                                kInfinity};
  for (std::uint32_t i = 0; i < domain.bins; ++i) {
    for (const double part : {-0.4, -0.01, 0.0, 0.01, 0.3, 0.5, 0.99}) {
      places.push_back(domain.point(i) + part * width);
    }
  }
  std::ranges::sort(places);
  return places;
}

TEST(CdfCount, AgreesWithTheDefinition) {
  for (const CdfCurve& curve : curves()) {
    const std::vector<double> places = places_on(curve);
    for (std::size_t from = 0; from < places.size(); from += 3) {
      for (std::size_t to = from; to < places.size(); ++to) {
        ASSERT_NEAR(curve.count(places[from], places[to]),
                    count_by_definition(curve, places[from], places[to]), 1e-4)
            << curve.domain().lower << " " << places[from] << " " << places[to];
      }
    }
  }
}

TEST(CdfCount, IncludesBothEndsWhereTheCurveIsDiscrete) {
  const CdfCurve curve = discrete(0, 4, 1, {1, 4, 4, 5, 10});
  EXPECT_EQ(curve.count(1, 1), 3);
  EXPECT_EQ(curve.count(1, 3), 4);
  EXPECT_EQ(curve.count(1.5, 2.5), 0);
  EXPECT_EQ(curve.count(4, 4), 5);
  EXPECT_EQ(curve.count(-kInfinity, kInfinity), 10);
  EXPECT_EQ(curve.count(4.5, kInfinity), 0);
  EXPECT_EQ(curve.count(-kInfinity, -0.5), 0);
}

TEST(CdfCount, IsZeroBeyondAnUpperBoundOffTheGrid) {
  const CdfCurve curve = discrete(0, 11, 3, {2, 3, 5, 9, 12});
  EXPECT_EQ(curve.count(11, 11), 3);
  EXPECT_EQ(curve.count(11.5, 12), 0);
  EXPECT_EQ(curve.count(15, 20), 0);
}

TEST(CdfCount, IsZeroForAPointOfAContinuousCurve) {
  const CdfCurve curve = continuous(0, 4, {1, 4, 4, 5});
  for (const double x : {-kInfinity, 0.0, 1.0, 1.3, 4.0, kInfinity}) {
    EXPECT_EQ(curve.count(x, x), 0) << x;
  }
  EXPECT_EQ(curve.count(-kInfinity, kInfinity), 5);
}

// 0.1 * 3 is not 0.3 in binary, but means the same value.
TEST(CdfCount, TakesValuesWithARoundingErrorAsTheGridsOwn) {
  const CdfCurve curve = discrete(0, 1, 0.1, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  for (int i = 0; i <= 10; ++i) {
    for (const double x : {i / 10.0, i * 0.1, std::nextafter(i / 10.0, 2), i / 10.0 - 1e-15}) {
      EXPECT_EQ(curve.count(x, x), 1) << x;
      EXPECT_EQ(curve.count(-kInfinity, x), i + 1) << x;
    }
  }
}

TEST(CdfCount, RefusesNaNAndEndsInTheWrongOrder) {
  const CdfCurve curve = continuous(0, 4, {1, 2});
  const std::string hint = "Infinity and -Infinity are allowed.";
  expect_parameter_error("from_value must be a number, got NaN", hint,
                         [&] { curve.count(kNaN, 1); });
  expect_parameter_error("to_value must be a number, got NaN", hint, [&] { curve.count(1, kNaN); });
  expect_parameter_error("from_value must not be greater than to_value, got 2 and 1.5",
                         "The arguments come in the order from_value, to_value.",
                         [&] { curve.count(2, 1.5); });
  expect_parameter_error("from_value must not be greater than to_value, got Infinity and -Infinity",
                         "The arguments come in the order from_value, to_value.",
                         [&] { curve.count(kInfinity, -kInfinity); });
}

TEST(CdfProbability, AgreesWithTheDefinition) {
  for (const CdfCurve& curve : curves()) {
    for (const double x : places_on(curve)) {
      const std::optional<double> probability = curve.probability(x);
      ASSERT_TRUE(probability);
      ASSERT_NEAR(*probability, probability_by_definition(curve, x), 1e-6) << x;
    }
  }
}

TEST(CdfProbability, GoesFromZeroToOne) {
  for (const CdfCurve& curve : curves()) {
    EXPECT_EQ(curve.probability(-kInfinity), 0);
    EXPECT_EQ(curve.probability(curve.domain().lower - 1), 0);
    EXPECT_EQ(curve.probability(curve.domain().upper), 1);
    EXPECT_EQ(curve.probability(kInfinity), 1);
    double before = 0;
    for (const double x : places_on(curve)) {
      ASSERT_GE(*curve.probability(x), before) << x;
      before = *curve.probability(x);
    }
  }
}

TEST(CdfProbability, RefusesNaN) {
  const auto ask = [] { continuous(0, 4, {1, 2}).probability(kNaN); };
  expect_parameter_error("x must be a number, got NaN", "Infinity and -Infinity are allowed.", ask);
}

TEST(CdfQuantile, AgreesWithTheDefinition) {
  for (const CdfCurve& curve : curves()) {
    const double range = curve.domain().upper - curve.domain().lower;
    for (int i = 0; i <= 1000; ++i) {
      const double q = i / 1000.0;
      const std::optional<double> quantile = curve.quantile(q);
      ASSERT_TRUE(quantile);
      ASSERT_NEAR(*quantile, quantile_by_definition(curve, q), 1e-6 * range) << q;
      ASSERT_GE(*quantile, curve.domain().lower);
      ASSERT_LE(*quantile, curve.domain().upper);
    }
  }
}

// 0.07 * 100 is more than 7 in binary.
TEST(CdfQuantile, InvertsTheProbabilityOfAValue) {
  for (const std::int64_t rows : {10, 49, 100, 1000}) {
    Cumulative cumulative;
    for (std::int64_t i = 1; i <= rows; ++i) cumulative.push_back(i);
    const CdfCurve curve = discrete(1, static_cast<double>(rows), 1, cumulative);
    for (std::int64_t i = 1; i <= rows; ++i) {
      const auto x = static_cast<double>(i);
      EXPECT_EQ(curve.quantile(*curve.probability(x)), x) << rows;
    }
  }
}

// For each curve that is off by at most so many rows at each point.
TEST(CdfQuantileError, HoldsForTheExactQuantile) {
  constexpr std::int64_t kRows = 200;
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    for (const bool is_discrete : {true, false}) {
      Cumulative exact;
      Cumulative noisy;
      std::int64_t off = 0;
      for (std::int64_t i = 1; i <= 20; ++i) {
        exact.push_back(i == 20 ? kRows
                                : (exact.empty() ? 0 : exact.back()) +
                                      static_cast<std::int64_t>(random() % 10));
        std::int64_t count =
            i == 20 ? kRows : exact.back() + static_cast<std::int64_t>(random() % 41) - 20;
        count = std::clamp<std::int64_t>(count, noisy.empty() ? 0 : noisy.back(), kRows);
        noisy.push_back(count);
        off = std::max(off, std::abs(count - exact.back()));
      }
      const CdfCurve released = is_discrete ? discrete(1, 20, 1, noisy) : continuous(0, 20, noisy);
      const CdfCurve truth = is_discrete ? discrete(1, 20, 1, exact) : continuous(0, 20, exact);
      for (int i = 1; i <= 50; ++i) {
        const double q = i / 50.0;
        const double error = released.quantile_error(q, static_cast<double>(off) + 1e-6).value();
        ASSERT_LE(std::abs(*truth.quantile(q) - *released.quantile(q)), error + 1e-9) << q;
      }
    }
  }
}

TEST(CdfQuantileError, IsTheDistanceToTheQuantilesBesideOrTheBounds) {
  const CdfCurve curve = discrete(1, 4, 1, {10, 20, 30, 40});
  EXPECT_EQ(curve.quantile_error(0.5, 0), 0.5);
  EXPECT_EQ(curve.quantile_error(0.5, 1), 1.5);
  EXPECT_EQ(curve.quantile_error(0.5, 100), 2);
  // Values that are not on the grid are rounded to it first: 49 counts as 0.
  EXPECT_EQ(
      discrete(0, 1000, 100, {40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40}).quantile_error(0.5, 1),
      50);
  EXPECT_EQ(continuous(0, 4, {10, 20, 30, 40}).quantile_error(0.5, 0), 1);
  EXPECT_EQ(discrete(1, 4, 1, {0, 0, 0, 0}).quantile_error(0.5, 1), std::nullopt);
}

TEST(CdfQuantile, IsMonotone) {
  for (const CdfCurve& curve : curves()) {
    double before = -kInfinity;
    for (int i = 0; i <= 997; ++i) {
      ASSERT_GE(*curve.quantile(i / 997.0), before);
      before = *curve.quantile(i / 997.0);
    }
  }
}

TEST(CdfQuantile, GoesFromWhereTheRowsBeginToWhereTheyEnd) {
  EXPECT_EQ(continuous(0, 4, {0, 3, 5, 5}).quantile(0), 1);
  EXPECT_EQ(continuous(0, 4, {0, 3, 5, 5}).quantile(1), 3);
  EXPECT_EQ(discrete(0, 3, 1, {0, 3, 5, 5}).quantile(0), 1);
  EXPECT_EQ(discrete(0, 3, 1, {0, 3, 5, 5}).quantile(1), 2);
  EXPECT_EQ(discrete(0, 3, 1, {0, 3, 5, 5}).quantile(-0.0), 1);
  // 0.3 + (0.9 - 0.3) is the double above 0.9.
  EXPECT_EQ(continuous(0.3, 0.9, {5}).quantile(1), 0.9);
}

TEST(CdfQuantile, RefusesNumbersOutsideZeroToOne) {
  const auto expect_refused = [](double q, const std::string& printed) {
    const auto ask = [&] { continuous(0, 4, {1, 2}).quantile(q); };
    expect_parameter_error("a quantile must be from 0 to 1, got " + printed, "0.5 is the median.",
                           ask);
  };
  expect_refused(-0.1, "-0.1");
  expect_refused(1.5, "1.5");
  expect_refused(95, "95");
  expect_refused(kInfinity, "Infinity");
  expect_refused(kNaN, "NaN");
}

// --- Points --------------------------------------------------------------------------------------

// No rows lie before the first bin, and all rows lie up to the last, so the band has no width
// there.
TEST(CdfPoints, AreTheEdgesOfAContinuousCurve) {
  const CdfCurve curve = continuous(0, 6, {2, 2, 8});
  const auto points = curve.points(1, heap());
  ASSERT_EQ(points.size(), 4U);
  const std::vector<CdfPoint> expected = {
      {0, 0, 0, 0}, {2, 0.25, 0.125, 0.375}, {4, 0.25, 0.125, 0.375}, {6, 1, 1, 1}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(points[i].x, expected[i].x);
    EXPECT_EQ(points[i].probability, expected[i].probability);
    EXPECT_EQ(points[i].low, expected[i].low);
    EXPECT_EQ(points[i].high, expected[i].high);
  }
}

TEST(CdfPoints, AreTheValuesOfADiscreteCurve) {
  const auto points = discrete(10, 12, 1, {2, 2, 8}).points(4, heap());
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].x, 10);
  EXPECT_EQ(points[0].probability, 0.25);
  EXPECT_EQ(points[0].low, 0);
  EXPECT_EQ(points[0].high, 0.75);
  EXPECT_EQ(points[1].x, 11);
  EXPECT_EQ(points[1].probability, 0.25);
  EXPECT_EQ(points[2].x, 12);
  EXPECT_EQ(points[2].probability, 1);
  EXPECT_EQ(points[2].low, 1);
  EXPECT_EQ(points[2].high, 1);
}

TEST(CdfPoints, AreTheCurvesProbabilitiesInAMonotoneBand) {
  for (const CdfCurve& curve : curves()) {
    for (const double share : {0.0, 0.7, 3.0, 1e6}) {
      CdfPoint before = {-kInfinity, 0, 0, 0};
      for (const CdfPoint& point : curve.points(share, heap())) {
        ASSERT_NEAR(point.probability, *curve.probability(point.x), 1e-6);
        ASSERT_GT(point.x, before.x);
        ASSERT_GE(point.low, before.low);
        ASSERT_GE(point.high, before.high);
        ASSERT_GE(point.low, 0);
        ASSERT_LE(point.low, point.probability);
        ASSERT_GE(point.high, point.probability);
        ASSERT_LE(point.high, 1);
        before = point;
      }
    }
  }
}

// --- Without rows --------------------------------------------------------------------------------

TEST(CdfWithoutRows, HasNoProbabilityAndNoQuantile) {
  for (const CdfCurve& curve : {continuous(0, 4, {0, 0}), discrete(0, 1, 1, {0, 0})}) {
    EXPECT_EQ(curve.rows(), 0);
    EXPECT_EQ(curve.probability(0.5), std::nullopt);
    EXPECT_EQ(curve.quantile(0.5), std::nullopt);
    EXPECT_EQ(curve.count(-kInfinity, kInfinity), 0);
    EXPECT_THROW(curve.probability(kNaN), ParameterError);
    EXPECT_THROW(curve.quantile(2), ParameterError);
    for (const CdfPoint& point : curve.points(3, heap())) {
      EXPECT_TRUE(std::isnan(point.probability));
      EXPECT_EQ(point.low, 0);
      EXPECT_EQ(point.high, 1);
    }
  }
}

// --- Corrupt curves ------------------------------------------------------------------------------

const CdfDomain kDomain = {0, 3, 0, 3};
const CdfPlan kPlan = cdf_plan(3, {2, 2}, {0.5, 0.5});
const Cumulative kCounts = {1, 2, 5};

void expect_corrupt(const std::string& message, const CdfDomain& domain, const CdfPlan& plan,
                    const Cumulative& counts) {
  try {
    cdf_curve(domain, plan, counts);
    ADD_FAILURE() << "no CorruptInput: " << message;
  } catch (const CorruptInput& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(CdfCurve, HoldsWhatItWasGiven) {
  const CdfCurve curve = cdf_curve(kDomain, kPlan, kCounts);
  EXPECT_EQ(curve.rows(), 5);
  EXPECT_EQ(curve.plan(), kPlan);
  EXPECT_EQ(Cumulative(curve.cumulative().begin(), curve.cumulative().end()), kCounts);
  EXPECT_EQ(curve.domain().upper, 3);
}

TEST(CdfCurve, AcceptsCountsUpToTwoToThe53) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  EXPECT_NO_THROW(cdf_curve(kDomain, kPlan, {0, kMost, kMost}));
  const std::string message = "the counts must be non-decreasing from 0 to 2^53";
  expect_corrupt(message, kDomain, kPlan, {0, 0, kMost + 1});
  expect_corrupt(message, kDomain, kPlan, {-1, 0, 0});
  expect_corrupt(message, kDomain, kPlan, {2, 1, 3});
  expect_corrupt("there must be one count a bin", kDomain, kPlan, {1, 2});
  expect_corrupt("there must be one count a bin", kDomain, kPlan, {1, 2, 3, 4});
  expect_corrupt("there must be one count a bin", kDomain, kPlan, {});
}

TEST(CdfCurve, RefusesBoundsAndBinsThatNoCallCouldHave) {
  const std::vector<CdfDomain> corrupt = {
      {3, 0, 0, 3},   {0, kInfinity, 0, 3}, {kNaN, 3, 0, 3}, {0, 3, kNaN, 3}, {0, 3, -1, 3},
      {0, 3, 0.5, 3}, {0, 3, 1, 3},         {0, 3, 0, 0},    {0, 3, 0, 4},    {0, 3, kInfinity, 3},
  };
  for (const CdfDomain& domain : corrupt) {
    EXPECT_THROW(cdf_curve(domain, kPlan, kCounts), CorruptInput) << domain.bins;
  }
  EXPECT_NO_THROW(cdf_curve({0, 2, 1, 3}, kPlan, kCounts));
}

TEST(CdfCurve, RefusesATreeThatDoesNotFitItsBins) {
  const std::string message = "the tree does not fit the bins";
  expect_corrupt(message, kDomain, cdf_plan(4, {2, 2}, {0.5, 0.5}), kCounts);
  expect_corrupt(message, kDomain, cdf_plan(3, {2}, {1}), kCounts);
  expect_corrupt(message, kDomain, cdf_plan(3, {2, 3}, {0.5, 0.5}), kCounts);
  expect_corrupt(message, kDomain, cdf_plan(3, {}, {}), kCounts);
  CdfPlan too_many_levels = kPlan;
  too_many_levels.levels = 21;
  expect_corrupt(message, kDomain, too_many_levels, kCounts);
  too_many_levels.levels = 0xffffffff;
  expect_corrupt(message, kDomain, too_many_levels, kCounts);
}

TEST(CdfCurve, RefusesAFactorizationWithATreeOrAnEpsilon) {
  CdfPlan plan = choose_cdf_plan(CdfMethod::kFactorization, 3, zcdp(0.5));
  EXPECT_NO_THROW(cdf_curve(kDomain, plan, kCounts));
  plan.bins = 4;
  expect_corrupt("the tree does not fit the bins", kDomain, plan, kCounts);
  plan.bins = 3;
  plan.privacy.measure = PrivacyMeasure::kPure;
  expect_corrupt("the method needs a rho", kDomain, plan, kCounts);
  for (const double rho : {0.0, -1.0, 9e-13, 1e4, kInfinity, kNaN}) {
    plan.privacy = zcdp(rho);
    expect_corrupt("rho or a level's part of it is out of range", kDomain, plan, kCounts);
  }
  plan = cdf_plan(3, {2, 2}, {0.25, 0.25}, PrivacyMeasure::kZcdp);
  plan.method = CdfMethod::kFactorization;
  expect_corrupt("the method has no tree", kDomain, plan, kCounts);
}

TEST(CdfCurve, RefusesBudgetsOfEpsilonOutOfRange) {
  const std::string message = "epsilon or a level's part of it is out of range";
  for (const double epsilon : {0.0, -1.0, 1e-10, 1e4, kInfinity, kNaN}) {
    expect_corrupt(message, kDomain, cdf_plan(3, {2, 2}, {0.5, epsilon}), kCounts);
    CdfPlan plan = kPlan;
    plan.privacy.value = epsilon;
    expect_corrupt(message, kDomain, plan, kCounts);
  }
}

TEST(CdfCurve, RefusesBudgetsOfRhoOutOfRange) {
  const CdfPlan least = cdf_plan(3, {2, 2}, {1e-12, 0x1p-50}, PrivacyMeasure::kZcdp);
  EXPECT_NO_THROW(cdf_curve(kDomain, least, kCounts));
  const std::string message = "rho or a level's part of it is out of range";
  for (const double rho : {0.0, -1.0, 0x1p-51, 1e4, kInfinity, kNaN}) {
    const CdfPlan plan = cdf_plan(3, {2, 2}, {0.5, rho}, PrivacyMeasure::kZcdp);
    expect_corrupt(message, kDomain, plan, kCounts);
    CdfPlan whole = cdf_plan(3, {2, 2}, {0x1p-50, 0x1p-50}, PrivacyMeasure::kZcdp);
    whole.privacy.value = rho;
    expect_corrupt(message, kDomain, whole, kCounts);
  }
}

TEST(CdfCurve, RefusesLevelsThatSpendMoreThanRho) {
  CdfPlan plan = cdf_plan(3, {2, 2}, {0.5, 0.5}, PrivacyMeasure::kZcdp);
  EXPECT_NO_THROW(cdf_curve(kDomain, plan, kCounts));
  plan.privacy.value = 0.99;
  expect_corrupt("the levels spend more than rho", kDomain, plan, kCounts);
}

TEST(CdfCurve, RefusesLevelsThatSpendMoreThanEpsilon) {
  CdfPlan plan = cdf_plan(3, {2, 2}, {0.5, 0.5});
  plan.privacy.value = 1;
  EXPECT_NO_THROW(cdf_curve(kDomain, plan, kCounts));
  plan.privacy.value = 0.99;
  expect_corrupt("the levels spend more than epsilon", kDomain, plan, kCounts);
}

TEST(CdfCurve, AcceptsEveryPlanThatIsChosen) {
  for (const CdfMethod method : test::kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 33U, 1024U, LevelTree::kMaxBins}) {
      for (const PrivacyParameter& privacy : test::kAllPrivacies) {
        const CdfDomain domain = CdfDomain::create(0, 1, bins, std::nullopt);
        const CdfPlan plan = choose_cdf_plan(method, bins, privacy);
        EXPECT_NO_THROW(cdf_curve(domain, plan, Cumulative(bins))) << bins << " " << privacy.value;
        if (privacy.measure == PrivacyMeasure::kPure) continue;
        const CdfPlan factorized = choose_cdf_plan(CdfMethod::kFactorization, bins, privacy);
        EXPECT_NO_THROW(cdf_curve(domain, factorized, Cumulative(bins))) << bins;
      }
    }
  }
}

// lower - x rounds to a step too many where the granularity is close to the spacing of doubles.
TEST(CdfProbability, IsInRangeJustBelowTheFirstValue) {
  constexpr std::uint32_t kValues = 101;
  const CdfDomain domain = CdfDomain::create(1, 1.000000139698386, std::nullopt, 0x1.8p-30);
  const CdfCurve curve =
      cdf_curve(domain, cdf_plan(domain.bins, {domain.bins}, {1}), Cumulative(domain.bins, 7));
  ASSERT_GE(domain.bins, kValues);
  for (const double x : {1 - 0x1p-53, 1 - 0x1p-52, 1 - 0x1p-40}) {
    const double probability = curve.probability(x).value();
    EXPECT_GE(probability, 0) << x;
    EXPECT_LE(probability, 1) << x;
  }
}

}  // namespace
}  // namespace dpquantile
