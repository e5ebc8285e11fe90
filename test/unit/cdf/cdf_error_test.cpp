#include "core/cdf/cdf_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/cdf/fraction_error.hpp"
#include "core/tree/consistency.hpp"
#include "core/tree/tree_variance.hpp"
#include "support/case_name.hpp"
#include "support/cdf_testing.hpp"
#include "support/context_testing.hpp"
#include "support/parameter_error.hpp"

namespace dpquantile {
namespace {

using test::case_name;
using test::cdf_curve;
using test::cdf_plan;
using test::CdfSampler;
using test::Cumulative;
using test::expect_parameter_error;
using test::heap;
using test::kCdfMethods;
using test::TestWorkspace;

using Counts = std::vector<std::uint64_t>;

CdfError figures(const CdfPlan& plan, double confidence) {
  return simulate_cdf_error(plan, confidence, TestWorkspace());
}

// --- Against another simulation ------------------------------------------------------------------

// Errors of the least-squares prefixes of whole trees, with noise from the standard library. The
// fixed seed makes these tests give the same result every time, so there is no false alarm.
class PrefixErrors {
 public:
  explicit PrefixErrors(const CdfPlan& plan)
      : plan_(plan),
        tree_(plan.bins, plan.branching()),
        weights_(level_weights(plan.privacy.measure, plan.level_budget())),
        precision_(tree_, weights_),
        nodes_(tree_.total_nodes()) {}

  // The errors of one release; the last is the total's.
  std::span<const double> draw() {
    std::size_t n = 0;
    for (std::size_t level = 1; level <= tree_.levels(); ++level) {
      for (std::uint32_t i = 0; i < tree_.nodes(level); ++i) nodes_[n++] = noise(level);
    }
    distribute_from_root(tree_, precision_, estimate_subtrees(tree_, precision_, weights_, nodes_),
                         nodes_);
    const auto prefixes = std::span(nodes_).last(plan_.bins);
    std::partial_sum(prefixes.begin(), prefixes.end(), prefixes.begin());
    return prefixes;
  }

 private:
  // The noise of a node on a level. Tests with Gaussian noise make it so wide that its rounding to
  // whole numbers does not matter.
  double noise(std::size_t level) {
    const double budget = plan_.level_budget()[level - 1];
    if (plan_.privacy.measure == PrivacyMeasure::kZcdp) {
      return std::round(std::normal_distribution<double>(0, std::sqrt(1 / (2 * budget)))(random_));
    }
    std::geometric_distribution<std::int64_t> half(-std::expm1(-budget));
    return static_cast<double>(half(random_) - half(random_));
  }

  CdfPlan plan_;
  LevelTree tree_;
  std::vector<double> weights_;
  SubtreePrecision precision_;
  std::vector<double> nodes_;
  std::mt19937_64 random_{9};
};

// The share of `runs` releases in which each figure holds. That of a point covers the total, too,
// where it has far more noise than the points.
CdfError coverage(const CdfPlan& plan, const CdfError& figure, int runs) {
  PrefixErrors errors(plan);
  CdfError covered{};
  double covered_below_total = 0;
  double squares = 0;
  double squares_of_total = 0;
  for (int i = 0; i < runs; ++i) {
    const std::span<const double> error = errors.draw();
    const double each = 1 / static_cast<double>(plan.bins);
    double everywhere = 0;
    double everywhere_fraction_rows = 0;
    squares_of_total += error.back() * error.back();
    for (const double prefix : error) {
      const double at_point = std::abs(prefix);
      const double share = std::max(at_point, std::abs(error.back() - prefix));
      squares += at_point * at_point * each;
      covered.point += (at_point <= figure.point) * each;
      covered_below_total += (std::max(at_point, -error.back()) <= figure.point) * each;
      covered.point_fraction_rows += (share <= figure.point_fraction_rows) * each;
      everywhere = std::max(everywhere, at_point);
      everywhere_fraction_rows = std::max(everywhere_fraction_rows, share);
    }
    covered.everywhere += everywhere <= figure.everywhere;
    covered.everywhere_fraction_rows += everywhere_fraction_rows <= figure.everywhere_fraction_rows;
  }
  if (squares_of_total > 1.2 * squares) covered.point = covered_below_total;
  return {covered.point / runs, covered.point_fraction_rows / runs, covered.everywhere / runs,
          covered.everywhere_fraction_rows / runs};
}

struct Interval {
  double low;
  double high;
};

void expect_covers(const CdfPlan& plan, double confidence, int runs, const Interval& expected) {
  const CdfError covered = coverage(plan, figures(plan, confidence), runs);
  for (const double rate : {covered.point, covered.point_fraction_rows, covered.everywhere,
                            covered.everywhere_fraction_rows}) {
    EXPECT_GE(rate, expected.low) << cdf_method_name(plan.method) << " " << confidence;
    EXPECT_LE(rate, expected.high) << cdf_method_name(plan.method) << " " << confidence;
  }
}

// The figures are quantiles of 4000 runs, three standard errors above the confidence, which are
// 0.0103 at 0.95. The rates must be at least 1 and at most 6 standard errors above it.
TEST(CdfErrorFigures, HoldAtTheirConfidenceAndNotFarAbove) {
  for (const CdfMethod method : kCdfMethods) {
    for (const PrivacyParameter& privacy : {pure(0.01), zcdp(5e-5)}) {
      const CdfPlan plan = choose_cdf_plan(method, 24, privacy);
      expect_covers(plan, 0.5, 20'000, {0.508, 0.548});
      expect_covers(plan, 0.95, 20'000, {0.953, 0.971});
    }
  }
}

TEST(CdfErrorFigures, HoldAtTheHighestConfidence) {
  expect_covers(choose_cdf_plan(CdfMethod::kTree, 24, pure(0.01)), 0.999, 60'000, {0.9993, 1});
}

// In trees of more than 4096 nodes the part below a level comes from a pool. The pool takes the
// tree's right edge as full, which can only make the figures a little larger. A rate of 800
// releases has a standard error of 0.007.
TEST(CdfErrorFigures, HoldForLargeTrees) {
  expect_covers(choose_cdf_plan(CdfMethod::kTree, 6000, pure(0.01)), 0.95, 800, {0.94, 0.983});
  expect_covers(choose_cdf_plan(CdfMethod::kBinary, 4096, pure(0.01)), 0.95, 800, {0.94, 0.983});
  expect_covers(choose_cdf_plan(CdfMethod::kHistogram, 5000, pure(0.01)), 0.95, 800, {0.94, 0.983});
  expect_covers(cdf_plan(4096, {2, 2048}, {0.001, 0.5}), 0.95, 800, {0.94, 0.983});
  for (const auto& [method, bins] : {std::pair{CdfMethod::kTree, 6000U},
                                     {CdfMethod::kBinary, 4096U},
                                     {CdfMethod::kHistogram, 5000U}}) {
    expect_covers(choose_cdf_plan(method, bins, zcdp(5e-5)), 0.95, 800, {0.94, 0.983});
  }
}

// --- One fraction --------------------------------------------------------------------------------

// The share of releases in which the error at a fraction holds, by bin.
std::vector<double> coverage_of_fraction(const CdfPlan& plan, double q, double rows, int runs) {
  PrefixErrors errors(plan);
  std::vector<double> covered(plan.bins);
  for (int i = 0; i < runs; ++i) {
    const std::span<const double> error = errors.draw();
    for (std::size_t k = 0; k < error.size(); ++k) {
      covered[k] += (std::abs(error[k] - q * error.back()) <= rows) / static_cast<double>(runs);
    }
  }
  return covered;
}

// It holds at each bin, and at the worst not far above its confidence: the Gaussian law and that of
// one Laplace noise differ by 8 % of a standard deviation. A rate of 4000 releases has a standard
// error of 0.0063 and 0.0034.
TEST(FractionErrors, HoldAtEachBinAndNotFarAboveTheirConfidence) {
  constexpr int kRuns = 4000;
  for (const CdfMethod method : kCdfMethods) {
    for (const PrivacyParameter& privacy : {pure(0.01), zcdp(5e-5)}) {
      const CdfPlan plan = choose_cdf_plan(method, 24, privacy);
      for (const auto& [confidence, low, high, fractions] :
           {std::tuple{0.8, 0.775, 0.86, std::vector{0.5}},
            {0.95, 0.936, 0.975, std::vector{0.0, 0.53, 0.9}}}) {
        const FractionErrors errors = fraction_errors(plan, confidence, TestWorkspace());
        for (const double q : fractions) {
          const auto covered = coverage_of_fraction(plan, q, errors.at(q), kRuns);
          const double least = *std::ranges::min_element(covered);
          EXPECT_GE(least, low) << cdf_method_name(method) << " " << q;
          EXPECT_LE(least, high) << cdf_method_name(method) << " " << q;
        }
      }
    }
  }
}

TEST(FractionErrors, AreFarBelowThoseOfAllPointsAtOnce) {
  for (const CdfPlan& plan : {choose_cdf_plan(CdfMethod::kTree, 256, pure(0.01)),
                              choose_cdf_plan(CdfMethod::kTree, 256, zcdp(5e-5)),
                              choose_cdf_plan(CdfMethod::kFactorization, 256, zcdp(5e-5))}) {
    const FractionErrors errors = fraction_errors(plan, 0.95, TestWorkspace());
    const CdfError all = figures(plan, 0.95);
    EXPECT_LT(errors.at(0.5), 0.6 * all.everywhere_fraction_rows);
    EXPECT_LT(errors.at(0.9), 0.7 * all.everywhere_fraction_rows);
    EXPECT_LT(errors.at(0.5), all.point_fraction_rows);
  }
}

TEST(FractionErrors, RefuseAConfidenceOutOfRange) {
  const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, 8, pure(1));
  EXPECT_THROW(fraction_errors(plan, 1, TestWorkspace()), ParameterError);
}

// --- Against releases ----------------------------------------------------------------------------

// The probability of at least, and of at most, this number of misses in these runs.
double upper_tail(int misses, int runs, double rate) {
  return misses == 0 ? 1 : boost::math::ibeta(misses, runs - misses + 1, rate);
}
double lower_tail(int misses, int runs, double rate) {
  return boost::math::ibetac(misses + 1, runs - misses, rate);
}

// The false-alarm probability of one check; there are fewer than 50.
constexpr double kFalseAlarm = 1e-9;

// Half of the records at a few values, the others ever rarer towards the right.
Counts skewed_with_ties(std::uint32_t bins) {
  Counts counts(bins);
  for (std::uint32_t i = 0; i < bins; ++i) {
    counts[i] = static_cast<std::uint64_t>(2000 * std::exp(-0.08 * i));
  }
  for (const std::uint32_t tie : {0U, 5U, 10U, 50U}) counts[tie % bins] += 5000;
  return counts;
}

struct Truth {
  Counts counts;
  Cumulative cumulative;

  explicit Truth(Counts records) : counts(std::move(records)), cumulative(counts.size()) {
    std::partial_sum(counts.begin(), counts.end(), cumulative.begin());
  }
};

// How often counts leave their band.
struct Misses {
  int everywhere = 0;
  int everywhere_fraction_rows = 0;
  double point = 0;
};

Misses misses_of(const CdfPlan& plan, const Truth& truth, const CdfError& figure, int runs) {
  CdfSampler sampler(truth.counts, plan);
  Misses misses;
  for (int run = 0; run < runs; ++run) {
    const auto released = sampler.draw();
    const auto bins = static_cast<double>(plan.bins);
    double greatest = 0;
    for (std::size_t k = 0; k < released.size(); ++k) {
      const auto error = std::abs(static_cast<double>(released[k] - truth.cumulative[k]));
      greatest = std::max(greatest, error);
      misses.point += (error > figure.point) / bins;
    }
    misses.everywhere += greatest > figure.everywhere;
    const CdfDomain domain = CdfDomain::create(0, bins, bins, std::nullopt);
    const CdfCurve curve(domain, plan, released);
    const auto points = curve.points(figure.everywhere_fraction_rows, heap());
    const auto rows = static_cast<double>(truth.cumulative.back());
    bool missed = false;
    for (std::size_t k = 0; k < released.size(); ++k) {
      const double probability = static_cast<double>(truth.cumulative[k]) / rows;
      missed |= probability < points[k + 1].low || probability > points[k + 1].high;
    }
    misses.everywhere_fraction_rows += missed;
  }
  return misses;
}

struct HeldData {
  std::string name;
  Truth truth;
};

const std::vector<HeldData>& held_data() {
  static const std::vector<HeldData> data = {
      {"SkewedWithTies", Truth(skewed_with_ties(100))},
      {"AllOnOneValue", Truth([] {
         Counts counts(100);
         counts[40] = 3000;
         return counts;
       }())},
      {"Even", Truth(Counts(100, 100'000))},
  };
  return data;
}

std::vector<CdfPlan> plans_of_every_kind() {
  std::vector<CdfPlan> plans;
  for (const CdfMethod method : kCdfMethods) {
    for (const PrivacyParameter& privacy : {pure(0.2), zcdp(0.02)}) {
      plans.push_back(choose_cdf_plan(method, 100, privacy));
    }
  }
  plans.push_back(choose_cdf_plan(CdfMethod::kFactorization, 100, zcdp(0.02)));
  return plans;
}

TEST(CdfBand, MissesReleasesAtMostAtItsRate) {
  constexpr int kRuns = 1000;
  for (const CdfPlan& plan : plans_of_every_kind()) {
    for (const double confidence : {0.8, 0.95}) {
      const CdfError figure = figures(plan, confidence);
      for (const auto& [name, truth] : held_data()) {
        const Misses misses = misses_of(plan, truth, figure, kRuns);
        EXPECT_GT(upper_tail(misses.everywhere, kRuns, 1 - confidence), kFalseAlarm) << name;
        EXPECT_GT(upper_tail(misses.everywhere_fraction_rows, kRuns, 1 - confidence), kFalseAlarm)
            << name;
      }
    }
  }
}

// The prefixes of one release depend on each other. The rate over many releases may be too high by
// a fifth of itself, which is more than ten standard errors.
TEST(CdfBand, MissesOnePrefixAtMostAtItsRate) {
  constexpr int kRuns = 2000;
  for (const CdfPlan& plan : plans_of_every_kind()) {
    const CdfError figure = figures(plan, 0.8);
    for (const auto& [name, truth] : held_data()) {
      EXPECT_LT(misses_of(plan, truth, figure, kRuns).point / kRuns, 1.2 * 0.2) << name;
    }
  }
}

// No count is released above that of all records, so where all counts are that one, they all are
// off by its noise, which is the largest in a histogram. The rates are 25 standard errors or more
// below the limit; without the noise of the total in the figure they were 13 above it.
TEST(CdfBand, MissesOnePrefixAtMostAtItsRateWhereAllCountsAreEqual) {
  constexpr int kRuns = 20'000;
  Counts counts(16);
  counts[0] = 1'000'000;
  for (const PrivacyParameter& privacy : {pure(0.1), zcdp(0.005)}) {
    const CdfPlan plan = choose_cdf_plan(CdfMethod::kHistogram, 16, privacy);
    EXPECT_LT(misses_of(plan, Truth(counts), figures(plan, 0.5), kRuns).point / kRuns, 0.5);
  }
}

// All records at two values: the curve is flat between them, at a quantile that is asked for, and
// the step that makes it monotone moves it most at the ends of this stretch.
Truth at_two_values(std::uint64_t first) {
  Counts counts(100);
  counts[30] = first;
  counts[80] = 3000 - first;
  return Truth(counts);
}

// The error of a quantile, with the monotone step, clipping and rounding.
TEST(CdfQuantileError, MissesAtMostAtItsRate) {
  constexpr int kRuns = 400;
  std::vector<HeldData> data = held_data();
  for (const std::uint64_t first : {1499U, 1500U, 1501U, 2699U, 2700U}) {
    data.push_back({"AtTwoValues" + std::to_string(first), at_two_values(first)});
  }
  for (const CdfPlan& plan : plans_of_every_kind()) {
    const FractionErrors errors = fraction_errors(plan, 0.8, TestWorkspace());
    const CdfDomain domain = CdfDomain::create(0, plan.bins - 1, std::nullopt, 1);
    for (const auto& [name, truth] : data) {
      const CdfCurve exact = cdf_curve(domain, plan, truth.cumulative);
      CdfSampler sampler(truth.counts, plan);
      const double fractions[] = {0.02, 0.5, 0.9};
      int missed[3] = {};
      for (int run = 0; run < kRuns; ++run) {
        const CdfCurve curve(domain, plan, sampler.draw());
        for (int i = 0; i < 3; ++i) {
          const double q = fractions[i];
          const double error = curve.quantile_error(q, errors.at(q)).value();
          missed[i] += std::abs(*curve.quantile(q) - *exact.quantile(q)) > error - 0.5;
        }
      }
      for (int i = 0; i < 3; ++i) {
        EXPECT_GT(upper_tail(missed[i], kRuns, 0.2), 1e-9 / 3) << name << " " << fractions[i];
      }
    }
  }
}

// Where nothing is pooled or clipped, a band of 0.8 that misses at a rate below 0.14 is too wide.
TEST(CdfBand, IsNotTooWide) {
  constexpr int kRuns = 2000;
  for (const CdfPlan& plan : plans_of_every_kind()) {
    const Misses misses = misses_of(plan, held_data().back().truth, figures(plan, 0.8), kRuns);
    EXPECT_GT(lower_tail(misses.everywhere, kRuns, 0.14), kFalseAlarm);
  }
}

// At a large epsilon the noise is a few rows, so rounding counts.
TEST(CdfBand, MissesAtMostAtItsRateWithNoiseOfAFewRows) {
  constexpr int kRuns = 2000;
  for (const PrivacyParameter& privacy :
       {pure(2), pure(5), pure(20), zcdp(0.5), zcdp(2), zcdp(8)}) {
    for (const CdfMethod method : {CdfMethod::kTree, CdfMethod::kFactorization}) {
      if (method == CdfMethod::kFactorization && privacy.measure == PrivacyMeasure::kPure) continue;
      const CdfPlan plan = choose_cdf_plan(method, 20, privacy);
      const CdfError figure = figures(plan, 0.9);
      const Misses misses = misses_of(plan, Truth(Counts(20, 100)), figure, kRuns);
      const double value = privacy.value;
      EXPECT_GT(upper_tail(misses.everywhere, kRuns, 0.1), kFalseAlarm) << value;
      EXPECT_GT(upper_tail(misses.everywhere_fraction_rows, kRuns, 0.1), kFalseAlarm) << value;
    }
  }
}

// --- Figures -------------------------------------------------------------------------------------

TEST(CdfErrorFigures, AreHalfOfThePosters) {
  const CdfError tree = figures(choose_cdf_plan(CdfMethod::kTree, 1024, pure(0.01)), 0.95);
  EXPECT_LE(tree.point, 2300);
  EXPECT_LE(tree.everywhere, 4600);
  EXPECT_GT(tree.point, 1500);
  EXPECT_GT(tree.everywhere, 3000);
}

// epsilon implies rho = epsilon^2 / 2.
TEST(CdfErrorFigures, AreFarSmallerUnderZcdp) {
  const CdfError tree = figures(choose_cdf_plan(CdfMethod::kTree, 1024, pure(0.01)), 0.95);
  const CdfError gaussian = figures(choose_cdf_plan(CdfMethod::kTree, 1024, zcdp(5e-5)), 0.95);
  EXPECT_LT(gaussian.point, 0.4 * tree.point);
  EXPECT_LT(gaussian.everywhere, 0.4 * tree.everywhere);
  EXPECT_GT(gaussian.point, 0.2 * tree.point);
}

TEST(CdfErrorFigures, AreTheSameEveryTime) {
  for (const std::uint32_t bins : {100U, 5000U}) {
    const PrivacyParameter privacy = bins == 100 ? pure(0.1) : zcdp(0.1);
    const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, bins, privacy);
    const CdfError one = figures(plan, 0.9);
    const CdfError other = figures(plan, 0.9);
    EXPECT_EQ(one.point, other.point);
    EXPECT_EQ(one.point_fraction_rows, other.point_fraction_rows);
    EXPECT_EQ(one.everywhere, other.everywhere);
    EXPECT_EQ(one.everywhere_fraction_rows, other.everywhere_fraction_rows);
  }
}

TEST(CdfErrorFigures, GrowWithTheConfidenceAndFallWithEpsilon) {
  const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, 50, pure(0.1));
  const CdfPlan more = choose_cdf_plan(CdfMethod::kTree, 50, pure(0.2));
  EXPECT_LT(figures(plan, 0.5).everywhere, figures(plan, 0.9).everywhere);
  EXPECT_LT(figures(plan, 0.9).point, figures(plan, 0.99).point);
  EXPECT_NEAR(figures(more, 0.9).everywhere, figures(plan, 0.9).everywhere / 2, 3);
  const CdfError figure = figures(plan, 0.9);
  EXPECT_LT(figure.point, figure.everywhere);
  EXPECT_LE(figure.point, figure.point_fraction_rows);
  EXPECT_LE(figure.everywhere, figure.everywhere_fraction_rows);
}

TEST(CdfErrorFigures, AreWholeRowsForCounts) {
  const CdfError figure = figures(choose_cdf_plan(CdfMethod::kTree, 50, pure(0.3)), 0.9);
  EXPECT_EQ(figure.point, std::floor(figure.point));
  EXPECT_EQ(figure.everywhere, std::floor(figure.everywhere));
}

TEST(CdfErrorFigures, AreZeroRowsWithoutNoiseAndOneForTheRoundingOfAShare) {
  for (const CdfMethod method : kCdfMethods) {
    for (const PrivacyParameter& privacy : {pure(1000), zcdp(1000)}) {
      const CdfError figure = figures(choose_cdf_plan(method, 30, privacy), 0.999);
      EXPECT_EQ(figure.point, 0);
      EXPECT_EQ(figure.everywhere, 0);
      EXPECT_NEAR(figure.point_fraction_rows, 1, 1e-9);
      EXPECT_NEAR(figure.everywhere_fraction_rows, 1, 1e-9);
    }
  }
}

// Trees that no method chooses, but that a dp_cdf value from outside may hold.
TEST(CdfErrorFigures, ExistForEveryTreeThatACurveMayHave) {
  const std::vector<CdfPlan> plans = {
      cdf_plan(4095, {2, 4000}, {0.5, 0.5}),         cdf_plan(5000, {2, 2, 2000}, {0.5, 0.1, 0.5}),
      cdf_plan(8192, {1024, 8}, {0.5, 0.5}),         cdf_plan(5000, {3, 2500, 2}, {0.5, 0.5, 0.5}),
      cdf_plan(8192, {1024, 1, 8}, {0.5, 0.5, 0.5}),
  };
  for (const CdfPlan& plan : plans) {
    const CdfDomain domain = CdfDomain::create(0, 1, plan.bins, std::nullopt);
    try {
      cdf_curve(domain, plan, Cumulative(plan.bins));
    } catch (const CorruptInput&) {
      continue;
    }
    EXPECT_GT(figures(plan, 0.5).everywhere, 0) << plan.bins;
  }
}

// --- Errors --------------------------------------------------------------------------------------

TEST(SimulateCdfError, RefusesConfidencesOutOfRange) {
  const auto expect_refused = [](double confidence, const std::string& printed) {
    const std::string message = "confidence must be from 0.5 to 0.999, got " + printed;
    const std::string hint =
        "It is the probability with which the error or band holds; 0.95 is usual.";
    expect_parameter_error(
        message, hint, [&] { figures(choose_cdf_plan(CdfMethod::kTree, 2, pure(1)), confidence); });
  };
  expect_refused(0.49, "0.49");
  expect_refused(0.9991, "0.9991");
  expect_refused(1, "1");
  expect_refused(95, "95");
  expect_refused(-0.95, "-0.95");
  expect_refused(std::numeric_limits<double>::infinity(), "Infinity");
  expect_refused(std::numeric_limits<double>::quiet_NaN(), "NaN");
}

TEST(SimulateCdfError, StopsWhenCancelled) {
  for (const std::uint32_t bins : {10U, 5000U}) {
    const TestWorkspace cancelled([] { return true; });
    const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, bins, pure(1));
    EXPECT_THROW(simulate_cdf_error(plan, 0.9, cancelled), Cancelled) << bins;
  }
}

}  // namespace
}  // namespace dpquantile
