#include "core/user_level/window_interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "core/contributions/fixed_point.hpp"
#include "core/user_level/budget_split.hpp"
#include "support/context_testing.hpp"
#include "support/interval_law.hpp"
#include "support/law_testing.hpp"

namespace dpquantile {
namespace {

using test::IntervalLaw;
using test::law_of_windows;
using test::TestContext;

constexpr std::uint32_t kOne = FixedPoint::kOne;
using Arrays = std::vector<FilledArray>;

// One array of 3 rows for each mean.
Arrays arrays_of(const std::vector<double>& means) {
  Arrays arrays;
  for (const double mean : means)
    arrays.push_back({3, static_cast<std::uint64_t>(3 * mean * kOne)});
  return arrays;
}

// --- The plan ------------------------------------------------------------------------------------

TEST(WindowPlanning, LeavesTheIntervalPublicForFewArrays) {
  EXPECT_EQ(plan_windows(1, 5, pure(1)).parts, 0U);
  EXPECT_EQ(plan_windows(100, 50, pure(0.1)).parts, 0U);
  EXPECT_EQ(plan_windows(1'000'000, 1, pure(1e-6)).parts, 0U);
}

TEST(WindowPlanning, SpendsLessForMoreArrays) {
  unsigned before = kMostIntervalParts;
  for (std::uint64_t arrays = 80; arrays < 100'000; arrays *= 2) {
    const WindowPlan plan = plan_windows(arrays, 5, pure(1));
    EXPECT_GE(plan.parts, 1U);
    EXPECT_LE(plan.parts, before);
    before = plan.parts;
  }
  EXPECT_LE(before, kBudgetParts / 4);
}

// rho = pi / 100 has the noise of epsilon = pi / 10.
TEST(WindowPlanning, PlansForRhoAsWell) {
  const double rho = std::numbers::pi / 100;
  EXPECT_NEAR(clipped_target(UserMethod::kQuantile, zcdp(rho)), 50 / std::numbers::pi, 1e-12);
  EXPECT_EQ(plan_windows(20, 2, zcdp(rho)).parts, 0U);
  const WindowPlan plan = plan_windows(600, 15, zcdp(rho));
  EXPECT_GE(plan.parts, 1U);
  // A part of rho is an epsilon' of sqrt(8 rho / 32), which is far more than a part of epsilon.
  EXPECT_LT(plan.parts, plan_windows(600, 15, pure(std::numbers::pi / 10)).parts);
}

TEST(WindowPlanning, ClipsAtMostATenthOfTheArrays) {
  EXPECT_EQ(plan_windows(1000, 5, pure(1)).clipped, 5U);
  EXPECT_EQ(plan_windows(1000, 5000, pure(1)).clipped, 100U);
  EXPECT_EQ(clipped_target(UserMethod::kQuantile, pure(0.5)), 10);
  EXPECT_EQ(clipped_target(UserMethod::kQuantileAdaptive, pure(0.5)), 2);
}

// The noise of the mean for windows whose widths have a density proportional to w^(-theta - 1), in
// units of that of the narrowest, 2^(-J/2): by a sum, not by the formula of the plan.
double noise_of_plan(const WindowPlan& plan, const PrivacyParameter& privacy) {
  constexpr int kSteps = 400;
  const double octaves = 0.5 * plan.finest;
  double widths = 0;
  double weights = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double width = std::exp2(octaves * (i + 0.5) / kSteps);
    const double weight = std::pow(width, -plan.narrow_preference);
    widths += weight * width;
    weights += weight;
  }
  return expected_noise(share_of(privacy, kBudgetParts - plan.parts)) * widths / weights;
}

// No other number of parts, with a theta that it allows, has less noise.
TEST(WindowPlanning, BalancesTheWidthAndTheRestOfTheBudget) {
  for (const PrivacyParameter& privacy : {pure(0.5), pure(2), zcdp(0.01), zcdp(0.2)}) {
    for (const std::uint64_t arrays : {100U, 120U, 181U, 300U, 3000U}) {
      const double clipped = 5 * expected_noise(privacy);
      const WindowPlan plan = plan_windows(arrays, clipped, privacy);
      if (plan.parts == 0) continue;
      const double target = static_cast<double>(plan.clipped);
      const double count = static_cast<double>(arrays);
      for (unsigned parts = 7; parts <= kMostIntervalParts; ++parts) {
        WindowPlan other = plan;
        other.parts = parts;
        for (double theta = 1; theta <= 5; theta += 0.25) {
          const double need = plan.finest * (1 + theta) * std::numbers::ln2 +
                              std::log(8 / (1 - std::exp2(-(1 + theta) / 4)));
          if (need > interval_epsilon(privacy, parts) / 2 * (count - target) - 3 -
                         std::log(std::max(1.0, count / expected_noise(privacy)))) {
            continue;
          }
          other.narrow_preference = theta;
          EXPECT_LE(noise_of_plan(plan, privacy), noise_of_plan(other, privacy) * (1 + 1e-4));
        }
      }
    }
  }
}

// With enough arrays J is 10, with fewer it is less. The last one is another if the
// expected width is that of the narrowest windows.
TEST(WindowPlanning, HasTheFinestWindowsThatAreFound) {
  struct Case {
    std::uint64_t arrays;
    PrivacyParameter privacy;
    WindowPlan plan;
  };
  const Case cases[] = {{120, pure(2), {12, 2, 10, 3.75}},
                        {43, pure(2), {16, 2, 7, 1}},
                        {60, pure(1), {16, 5, 2, 1.5}},
                        {200, zcdp(0.01), {14, 20, 5, 1}}};
  for (const auto& [arrays, privacy, expected] : cases) {
    const WindowPlan plan =
        plan_windows(arrays, clipped_target(UserMethod::kQuantile, privacy), privacy);
    EXPECT_EQ(plan.parts, expected.parts) << arrays << " arrays";
    EXPECT_EQ(plan.clipped, expected.clipped) << arrays << " arrays";
    EXPECT_EQ(plan.finest, expected.finest) << arrays << " arrays";
    EXPECT_EQ(plan.narrow_preference, expected.narrow_preference) << arrays << " arrays";
  }
}

// The claim of the plan: the windows that hold no array mean have at most e^-3 times the weight at
// which their error would be that of the noise of the whole range.
TEST(WindowPlanning, KeepsMissesRare) {
  for (const PrivacyParameter& privacy : {pure(0.1), pure(1), pure(20), zcdp(0.005), zcdp(1)}) {
    for (const std::uint64_t arrays : {20U, 90U, 200U, 1000U, 4000U, 100'000U}) {
      const WindowPlan plan = plan_windows(arrays, 5 * expected_noise(privacy), privacy);
      if (plan.parts == 0) continue;
      double windows = 0;
      for (unsigned j = 0; j <= 4 * plan.finest; ++j) {
        const double width = std::exp2(-(j / 4.0));
        windows += ((1 - width) / width * 8 + 1) * std::pow(width, -plan.narrow_preference);
      }
      const double lambda = interval_epsilon(privacy, plan.parts) / 2;
      const double excess = static_cast<double>(arrays - plan.clipped);
      const double missed = windows * std::exp(-lambda * excess);
      EXPECT_LE(missed * static_cast<double>(arrays) / expected_noise(privacy), std::exp(-3));
    }
  }
}

// --- The draw ------------------------------------------------------------------------------------

class WindowInterval : public ::testing::Test {
 protected:
  TestContext context_;
};

TEST_F(WindowInterval, FollowsTheLawOfTheProof) {
  constexpr int kDraws = 10'000;
  const WindowPlan plans[] = {{7, 0, 2, 1}, {7, 1, 3, 2.5}, {16, 2, 2, 1}};
  const std::vector<double> data[] = {
      {0.4, 0.41, 0.42, 0.9}, {0, 0, 0.999, 1}, {0.1, 0.3, 0.5, 0.7, 0.9, 0.95}};
  for (const WindowPlan& plan : plans) {
    for (const std::vector<double>& means : data) {
      for (const double epsilon : {0.2, 2.0}) {
        std::vector<double> probabilities;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> places;
        for (const auto& [interval, probability] : law_of_windows(means, plan, epsilon)) {
          places[interval] = probabilities.size();
          probabilities.push_back(static_cast<double>(probability));
        }
        std::vector<std::uint64_t> observed(probabilities.size());
        for (int i = 0; i < kDraws; ++i) {
          const ClippingInterval drawn =
              draw_window_interval(arrays_of(means), plan, epsilon, context_);
          ++observed[places.at({drawn.low, drawn.high})];
        }
        EXPECT_GT(test::law_p_value(observed, probabilities), test::kLawFalseAlarm) << epsilon;
      }
    }
  }
}

// The definition of privacy, on the exact law: no probability changes by more than e^epsilon, and
// the logarithms of the changes span at most epsilon.
TEST_F(WindowInterval, HasABoundedRange) {
  constexpr double kEpsilon = 0.7;
  const WindowPlan plan{7, 1, 2, 1};
  const std::vector<double> ends = {0, 0.2, 0.5, 0.8, 1};
  for (const double from : ends) {
    for (const double to : ends) {
      const std::vector<double> means = {0.1, 0.3, 0.5, 0.9, from};
      const std::vector<double> moved = {0.1, 0.3, 0.5, 0.9, to};
      const IntervalLaw other = law_of_windows(moved, plan, kEpsilon);
      long double least = 0;
      long double most = 0;
      for (const auto& [interval, probability] : law_of_windows(means, plan, kEpsilon)) {
        const long double change = std::log(probability / other.at(interval));
        least = std::min(least, change);
        most = std::max(most, change);
      }
      EXPECT_LE(most - least, kEpsilon);
    }
  }
}

TEST_F(WindowInterval, HoldsMostArrayMeans) {
  std::vector<double> means;
  for (int i = 0; i < 1000; ++i) means.push_back(0.4 + i * 1e-4);
  const WindowPlan plan = plan_windows(means.size(), 5, pure(50));
  // At epsilon = 10 a window with 20 more or fewer array means outside has less than e^-80 times
  // the weight of the best one.
  for (int i = 0; i < 20; ++i) {
    const ClippingInterval drawn = draw_window_interval(arrays_of(means), plan, 10, context_);
    EXPECT_LT(drawn.low / double{kOne}, 0.403);
    EXPECT_GT(drawn.high / double{kOne}, 0.497);
  }
}

}  // namespace
}  // namespace dpquantile
