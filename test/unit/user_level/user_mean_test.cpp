#include "core/user_level/user_mean.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "core/contributions/best_fit.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/window_interval.hpp"
#include "support/context_testing.hpp"
#include "support/interval_law.hpp"
#include "support/law_testing.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile {
namespace {

using test::for_each_tuple;
using test::GroupedRows;
using test::TestContext;
using test::TestWorkspace;
using test::UserValues;

constexpr std::uint32_t kOne = FixedPoint::kOne;
const std::vector<std::uint32_t> kEnds = {0, kOne};
const std::vector<std::uint32_t> kLevels = {0, kOne / 3, kOne};

constexpr UserMethod kMethods[] = {
    UserMethod::kBaseline,         UserMethod::kArray,   UserMethod::kLevy, UserMethod::kQuantile,
    UserMethod::kQuantileAdaptive, UserMethod::kBounded, UserMethod::kAuto};

const TestWorkspace work;

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

// Visits every data set of users with these numbers of rows and values at the ends of the range.
template <class Visit>
void for_each_dataset(const std::vector<std::size_t>& sizes, Visit visit) {
  std::size_t rows = 0;
  for (const std::size_t size : sizes) rows += size;
  for_each_tuple(kEnds, rows, [&](const std::vector<std::uint32_t>& flat) {
    UserValues data;
    auto next = flat.begin();
    for (const std::size_t size : sizes) {
      data.emplace_back(next, next + static_cast<std::ptrdiff_t>(size));
      next += static_cast<std::ptrdiff_t>(size);
    }
    visit(data);
  });
}

// Calls visit(data, neighbour) for every replacement of one user's values, extreme and interior.
template <class Visit>
void for_each_neighbour(const std::vector<std::size_t>& sizes, Visit visit) {
  for_each_dataset(sizes, [&](const UserValues& data) {
    for (std::size_t user = 0; user < data.size(); ++user) {
      for_each_tuple(kLevels, data[user].size(), [&](const std::vector<std::uint32_t>& values) {
        UserValues neighbour = data;
        neighbour[user] = values;
        visit(data, neighbour);
      });
    }
  });
}

const std::vector<std::vector<std::size_t>> kSizes = {
    {1}, {3}, {1, 1}, {1, 1, 1}, {2, 1}, {4, 1}, {2, 2, 1}, {3, 2}, {1, 2, 3}, {1, 1, 1, 1, 1}};

// --- Sensitivity by exhaustion -------------------------------------------------------------------

TEST(KeptMean, ChangesByAtMostItsSensitivityAndReachesIt) {
  for (const auto& sizes : kSizes) {
    const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
    for (std::uint64_t bound = 1; bound <= most; ++bound) {
      std::uint64_t largest = 0;
      std::uint64_t sensitivity = 0;
      for_each_neighbour(sizes, [&](const UserValues& data, const UserValues& neighbour) {
        const IntegerQuery one = kept_mean(*GroupedRows(data), bound, work.cancel);
        const IntegerQuery other = kept_mean(*GroupedRows(neighbour), bound, work.cancel);
        ASSERT_EQ(one.sensitivity, other.sensitivity);
        ASSERT_LE(distance(one.answer, other.answer), one.sensitivity);
        largest = std::max(largest, distance(one.answer, other.answer));
        sensitivity = one.sensitivity;
      });
      EXPECT_GE(largest + 1, sensitivity) << sizes.size() << " users, bound " << bound;
    }
  }
}

TEST(ClippedMean, ChangesByAtMostItsSensitivity) {
  const std::vector<ClippingInterval> intervals = {{0, kOne},        {kOne / 4, kOne / 2},
                                                   {0, 1},           {kOne / 3, kOne / 3},
                                                   {1000, kOne - 7}, {kOne, kOne}};
  for (const auto& sizes : kSizes) {
    const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
    for (std::uint64_t bound = 1; bound <= most; ++bound) {
      for_each_neighbour(sizes, [&](const UserValues& data, const UserValues& neighbour) {
        const auto one = fill_arrays(*GroupedRows(data), bound, work);
        const auto other = fill_arrays(*GroupedRows(neighbour), bound, work);
        for (const ClippingInterval& interval : intervals) {
          const IntegerQuery mean = clipped_mean(one, interval);
          const IntegerQuery moved = clipped_mean(other, interval);
          ASSERT_EQ(mean.sensitivity, moved.sensitivity);
          ASSERT_LE(distance(mean.answer, moved.answer), mean.sensitivity);
        }
      });
    }
  }
}

TEST(ClippedMean, ReachesItsSensitivity) {
  const std::vector<FilledArray> low = {{4, 0}, {4, 2 * std::uint64_t{kOne}}};
  const std::vector<FilledArray> high = {{4, 4 * std::uint64_t{kOne}}, low[1]};
  for (const ClippingInterval interval : {ClippingInterval{0, kOne}, {kOne / 4, kOne / 2}}) {
    const IntegerQuery before = clipped_mean(low, interval);
    const IntegerQuery after = clipped_mean(high, interval);
    EXPECT_EQ(after.answer - before.answer, before.sensitivity);
  }
}

TEST(ClippedMean, EqualsTheKeptMeanOnTheWholeRange) {
  std::mt19937_64 random(5);
  UserValues data(40);
  for (auto& values : data) {
    values.resize(as_size(1 + random() % 20));
    for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random() >> 33);
  }
  const GroupedRows rows(data);
  for (const std::uint64_t bound : {1U, 5U, 20U}) {
    const auto arrays = fill_arrays(*rows, bound, work);
    EXPECT_EQ(clipped_mean(arrays, {0, kOne}).answer, kept_mean(*rows, bound, work.cancel).answer);
    EXPECT_LE(clipped_mean(arrays, {0, kOne}).sensitivity,
              kept_mean(*rows, bound, work.cancel).sensitivity);
  }
}

TEST(FilledArrays, ChangeInOnePlaceWhenOneUserChanges) {
  for_each_neighbour({1, 2, 3}, [&](const UserValues& data, const UserValues& neighbour) {
    const auto one = fill_arrays(*GroupedRows(data), 3, work);
    const auto other = fill_arrays(*GroupedRows(neighbour), 3, work);
    ASSERT_EQ(one.size(), other.size());
    int changed = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one[i].rows, other[i].rows);
      changed += one[i].sum != other[i].sum;
    }
    ASSERT_LE(changed, 1);
  });
}

// --- Odd inputs ----------------------------------------------------------------------------------

// The least and the largest guarantees, and one between.
const PrivacyParameter kGuarantees[] = {pure(1e-6),  pure(1), pure(1000),
                                        zcdp(1e-12), zcdp(1), zcdp(1000)};

class UserMean : public ::testing::Test {
 protected:
  static UserQuery query(UserMethod method, const PrivacyParameter& privacy) {
    const bool bounded = method == UserMethod::kBounded;
    return {method, bounded ? ContributionRule::kFixed : ContributionRule::kOptimal, 3, privacy};
  }
  std::uint32_t draw(const UserValues& data, const UserQuery& query) {
    return user_mean(*GroupedRows(data), query, context_);
  }
  std::uint32_t draw(const UserValues& data, UserMethod method, const PrivacyParameter& privacy) {
    return draw(data, query(method, privacy));
  }

  TestContext context_;
};

TEST_F(UserMean, StaysInRangeForOddInputs) {
  const std::vector<UserValues> odd = {
      {},
      {{5}},
      {{0, kOne, 7}},
      {{kOne}, {kOne}, {kOne}},
      {std::vector<std::uint32_t>(3000, kOne), {0}, {1}},
      {{0}, {0}, {0}, {0}},
  };
  for (const UserValues& data : odd) {
    for (const UserMethod method : kMethods) {
      for (const PrivacyParameter& privacy : kGuarantees) {
        for (int i = 0; i < 20; ++i) EXPECT_LE(draw(data, method, privacy), kOne);
      }
    }
  }
}

// The noise is that of one row. Nearly every answer is at one of the ends when epsilon is small,
// and near the middle when it is large.
TEST_F(UserMean, IsANoisyMiddleWithoutRows) {
  for (const UserMethod method : kMethods) {
    if (method == UserMethod::kBounded) continue;
    int ends = 0;
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t answer = draw({}, method, pure(0.001));
      ends += answer == 0 || answer == kOne;
      // P[|noise| > 1/4] = e^-250.
      EXPECT_NEAR(draw({}, method, pure(1000)) / double{kOne}, 0.5, 0.25);
    }
    // Each answer lies between the ends with probability 0.0005; 20 of 200 have a probability below
    // 10^-38.
    EXPECT_GT(ends, 180);
  }
}

// With epsilon = 1000 the noise of 2000 rows reaches 1 / 1000 with probability e^-900 or less. With
// rho = 1000 its sigma is 2 * 10^-5 or less.
TEST_F(UserMean, IsAccurateWithAlmostNoNoise) {
  UserValues data;
  for (std::uint32_t user = 0; user < 1000; ++user) data.push_back({kOne / 4, kOne / 2});
  for (const UserMethod method : kMethods) {
    for (const PrivacyParameter& privacy : {pure(1000), zcdp(1000)}) {
      EXPECT_NEAR(draw(data, method, privacy) / double{kOne}, 0.375, 0.002);
    }
  }
}

TEST_F(UserMean, IsTheValueOfEqualValues) {
  const UserValues data(500, std::vector<std::uint32_t>(3, kOne / 5));
  for (const UserMethod method : kMethods) {
    EXPECT_NEAR(draw(data, method, pure(1000)) / double{kOne}, 0.2, 0.002);
  }
}

TEST_F(UserMean, AcceptsAFixedBoundAboveTheMostRows) {
  for (const UserMethod method : kMethods) {
    EXPECT_LE(
        draw({{1, 2, 3}, {4}, {5, 6}}, {method, ContributionRule::kFixed, 0xffffffff, pure(1)}),
        kOne);
  }
}

TEST_F(UserMean, RefusesParametersOutOfRange) {
  for (const UserMethod method : kMethods) {
    EXPECT_THROW(draw({{1}}, method, pure(0)), ParameterError);
    EXPECT_THROW(draw({{1}}, method, zcdp(0)), ParameterError);
  }
}

// --- Noise ---------------------------------------------------------------------------------------

// The mean magnitude of n Laplace draws has standard deviation (scale / sqrt(n)). It is off by 8 of
// them with probability below 10^-14, and the normal approximation is good at n = 20 000.
TEST_F(UserMean, HasTheForecastNoise) {
  constexpr int kDraws = 20'000;
  UserValues data(100, {kOne / 2});
  data[0] = std::vector<std::uint32_t>(20, kOne / 2);
  for (const UserMethod method : {UserMethod::kBaseline, UserMethod::kArray}) {
    const GroupedRows rows(data);
    const RowsPerUser counts(*rows, work);
    const UserQuery asked = query(method, pure(2));
    const std::uint64_t bound = mean_contribution_bound(asked, counts);
    const double scale = static_cast<double>(bound) / static_cast<double>(counts.kept(bound)) / 2;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      sum += std::abs(user_mean(*rows, asked, context_) / double{kOne} - 0.5);
    }
    // Clamping at 1/2 takes away less than e^(-1/2 / scale) of it.
    const double clamped = scale * std::exp(-0.5 / scale);
    EXPECT_NEAR(sum / kDraws, scale, 8 * scale / std::sqrt(kDraws) + clamped);
  }
}

double normal_below(double z) {
  return std::erfc(-z / std::sqrt(2)) / 2;
}
double laplace_below(double z) {
  return z < 0 ? std::exp(z) / 2 : 1 - std::exp(-z) / 2;
}

// The p-value of the noise of a mean, in units of its spread, against the law with these
// probabilities of less noise. The mean is in the middle of the range.
class UserNoise : public UserMean {
 protected:
  double p_value(const GroupedRows& rows, const UserQuery& query, double spread,
                 double (*below)(double)) {
    constexpr int kDraws = 20'000;
    constexpr std::size_t kParts = 12;
    std::vector<std::uint64_t> observed(kParts);
    for (int i = 0; i < kDraws; ++i) {
      const double noise = user_mean(*rows, query, context_) / double{kOne} - 0.5;
      const auto part = static_cast<std::size_t>(below(noise / spread) * kParts);
      ++observed[std::min(kParts - 1, part)];
    }
    return test::law_p_value(observed, std::vector<double>(kParts, 1.0 / kParts));
  }
};

// Half of the users have values at either end, so that nothing but the noise moves the mean. Of 10
// users with 3 rows the sensitivity of the mean is 1/10.
TEST_F(UserNoise, IsGaussianOfTheWholeOfRhoWithoutAnInterval) {
  UserValues data(5, {0, 0, 0});
  data.resize(10, {kOne, kOne, kOne});
  const GroupedRows rows(data);
  for (const UserMethod method : {UserMethod::kBaseline, UserMethod::kArray, UserMethod::kLevy,
                                  UserMethod::kQuantile, UserMethod::kAuto}) {
    const auto p_value_of = [&](double spent) {
      return p_value(rows, query(method, zcdp(0.5)), 0.1 / std::sqrt(2 * spent), normal_below);
    };
    EXPECT_GT(p_value_of(0.5), test::kLawFalseAlarm);
    EXPECT_LT(p_value_of(0.6), test::kLawFalseAlarm);
  }
}

// The law of a mean by 'quantile': that of its interval, by the definition, and the noise of the
// rest of the budget about the clipped mean.
class QuantileLaw : public UserNoise {
 protected:
  struct Part {
    double probability;
    double mean;
    double spread;
  };

  static UserValues spread_values() {
    UserValues data;
    for (std::uint32_t i = 0; i < kUsers; ++i) data.push_back({kOne / 100 * (30 + i)});
    return data;
  }

  // If the mean spends `mean_parts` of the budget, and the interval `times` its share of epsilon.
  static std::vector<Part> law(const PrivacyParameter& budget, unsigned mean_parts,
                               double times = 1) {
    const WindowPlan plan =
        plan_windows(kUsers, clipped_target(UserMethod::kQuantile, budget), budget);
    std::vector<double> means;
    std::vector<FilledArray> arrays;
    for (const auto& values : spread_values()) {
      means.push_back(values.front() / double{kOne});
      arrays.push_back({1, values.front()});
    }
    const PrivacyParameter rest = share_of(budget, mean_parts);
    const double spread_of_one =
        rest.measure == PrivacyMeasure::kPure ? 1 / rest.value : 1 / std::sqrt(2 * rest.value);
    std::vector<Part> parts;
    for (const auto& [interval, probability] :
         test::law_of_windows(means, plan, times * interval_epsilon(budget, plan.parts))) {
      if (probability < 1e-9L) continue;
      const IntegerQuery query = clipped_mean(arrays, {interval.first, interval.second});
      parts.push_back({static_cast<double>(probability), static_cast<double>(query.answer) / kOne,
                       static_cast<double>(query.sensitivity) / kOne * spread_of_one});
    }
    return parts;
  }

  static double below(const std::vector<Part>& law, double x, PrivacyMeasure measure) {
    double sum = 0;
    for (const auto& [probability, mean, spread] : law) {
      const double z = (x - mean) / spread;
      sum += probability * (measure == PrivacyMeasure::kPure ? laplace_below(z) : normal_below(z));
    }
    return sum;
  }

  std::vector<double> draw(const PrivacyParameter& budget, int draws) {
    const GroupedRows rows(spread_values());
    std::vector<double> drawn;
    for (int i = 0; i < draws; ++i) {
      drawn.push_back(user_mean(*rows, query(UserMethod::kQuantile, budget), context_) /
                      double{kOne});
    }
    return drawn;
  }

  static double p_value(const std::vector<Part>& law, const std::vector<double>& drawn,
                        PrivacyMeasure measure) {
    constexpr std::size_t kParts = 6;
    std::vector<std::uint64_t> observed(kParts);
    for (const double x : drawn) {
      const auto part = static_cast<std::size_t>(below(law, x, measure) * kParts);
      ++observed[std::min(kParts - 1, part)];
    }
    return test::law_p_value(observed, std::vector<double>(kParts, 1.0 / kParts));
  }

  static constexpr std::uint32_t kUsers = 40;
};

TEST_F(QuantileLaw, IsThatOfTheIntervalAndTheRestOfTheBudget) {
  constexpr int kDraws = 8000;
  for (const PrivacyParameter& budget : {pure(20), zcdp(20)}) {
    const WindowPlan plan =
        plan_windows(kUsers, clipped_target(UserMethod::kQuantile, budget), budget);
    ASSERT_GT(plan.parts, 4U);
    const unsigned rest = kBudgetParts - plan.parts;
    const std::vector<double> drawn = draw(budget, kDraws);
    EXPECT_GT(p_value(law(budget, rest), drawn, budget.measure), test::kLawFalseAlarm);
    EXPECT_LT(p_value(law(budget, kBudgetParts), drawn, budget.measure), test::kLawFalseAlarm);
  }
}

// What the interval spends moves the law little, so this takes more draws, of plans with few
// windows.
TEST_F(QuantileLaw, SpendsTheShareOfTheIntervalOnIt) {
  constexpr int kDraws = 20'000;
  for (const PrivacyParameter& budget : {pure(2), zcdp(0.2)}) {
    const WindowPlan plan =
        plan_windows(kUsers, clipped_target(UserMethod::kQuantile, budget), budget);
    ASSERT_GT(plan.parts, 4U);
    ASSERT_LE(plan.finest, 5U);
    const unsigned rest = kBudgetParts - plan.parts;
    const std::vector<double> drawn = draw(budget, kDraws);
    EXPECT_GT(p_value(law(budget, rest), drawn, budget.measure), test::kLawFalseAlarm);
    EXPECT_LT(p_value(law(budget, rest, 2), drawn, budget.measure), test::kLawFalseAlarm);
  }
}

// Five users of m rows: ln(50) / (2 m) is tau^2 in units of U, so 4 tau >= U up to m = 31.
class LevyBorder : public UserMean {
 protected:
  static constexpr double kEpsilon = 200;
  static constexpr double kRho = 600;

  // One user at the upper end, four at the lower one. The noise has the probabilities `below` of
  // less than a multiple of its scale.
  void expect_law(const PrivacyParameter& privacy, std::size_t rows_per_user, double centre,
                  double scale, double (*below)(double)) {
    constexpr int kDraws = 20'000;
    constexpr std::size_t kParts = 12;
    UserValues data(5, std::vector<std::uint32_t>(rows_per_user, 0));
    data.back().assign(rows_per_user, kOne);
    const GroupedRows rows(data);
    std::vector<std::uint64_t> observed(kParts);
    for (int i = 0; i < kDraws; ++i) {
      const std::uint32_t drawn = user_mean(*rows, query(UserMethod::kLevy, privacy), context_);
      const double z = (drawn / double{kOne} - centre) / scale;
      ++observed[std::min(kParts - 1, static_cast<std::size_t>(below(z) * kParts))];
    }
    const std::vector<double> evenly(kParts, 1.0 / kParts);
    EXPECT_GT(test::law_p_value(observed, evenly), test::kLawFalseAlarm);
  }
};

// At 4 tau >= U nobody is clipped, and the noise uses all of epsilon.
TEST_F(LevyBorder, UsesTheWholeRangeAtFullEpsilonAbove) {
  expect_law(pure(kEpsilon), 31, 1.0 / 5, 1.0 / 5 / kEpsilon, laplace_below);
  expect_law(zcdp(kRho), 31, 1.0 / 5, 1.0 / 5 / std::sqrt(2 * kRho), normal_below);
}

// Below, the interval is [0, 3 tau], around the first bin, except for less than one of 1000 draws
// (every other bin costs 3/2). The noise uses what the interval leaves of epsilon.
TEST_F(LevyBorder, UsesAPrivateIntervalAndTheRestOfEpsilonBelow) {
  const double tau = std::sqrt(std::log(50) / (2 * 126));
  const unsigned parts = levy_interval_parts(levy_half_width(5, 126), 5, pure(kEpsilon));
  ASSERT_GE(kEpsilon * parts / 32 * 3 / 4, 9);
  expect_law(pure(kEpsilon), 126, 3 * tau / 5, 3 * tau / 5 / (kEpsilon * (32 - parts) / 32),
             laplace_below);
}

TEST_F(LevyBorder, UsesAPrivateIntervalAndTheRestOfRhoBelow) {
  const double tau = std::sqrt(std::log(50) / (2 * 126));
  const unsigned parts = levy_interval_parts(levy_half_width(5, 126), 5, zcdp(kRho));
  ASSERT_GT(parts, 0U);
  ASSERT_GE(std::sqrt(8 * kRho * parts / 32) * 3 / 4, 9);
  expect_law(zcdp(kRho), 126, 3 * tau / 5, 3 * tau / 5 / std::sqrt(2 * kRho * (32 - parts) / 32),
             normal_below);
}

// Three of four arrays are at the lower end, so each of the four bins after the first costs 1 and
// has, with epsilon' for the interval, a weight of e^(-epsilon' / 2). The mean for the first bin's
// interval is 3/4 tau, for the others 2 tau and more. 1.4 tau is more than 5 scales of the noise
// away from both.
TEST_F(UserMean, FindsTheLevyIntervalWithItsShareOfEpsilon) {
  constexpr int kDraws = 40'000;
  constexpr double kAsked = 20;
  constexpr std::size_t kRows = 130;
  const std::vector<std::uint32_t> low(kRows, 0);
  const std::vector<std::uint32_t> high(kRows, kOne);
  const GroupedRows rows(UserValues{low, low, low, high});
  const double tau = std::sqrt(std::log(40) / (2 * kRows));
  std::vector<std::uint64_t> observed(2);
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = user_mean(*rows, query(UserMethod::kLevy, pure(kAsked)), context_);
    ++observed[drawn / kOne < 1.4 * tau];
  }
  const unsigned parts = levy_interval_parts(levy_half_width(4, kRows), 4, pure(kAsked));
  ASSERT_GT(parts, 0U);
  const double first = 1 / (1 + 4 * std::exp(-kAsked * parts / 64));
  EXPECT_GT(test::law_p_value(observed, std::vector<double>{1 - first, first}),
            test::kLawFalseAlarm);
}

}  // namespace
}  // namespace dpquantile
