#include "core/user_level/auto_method.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "core/contributions/fixed_point.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/user_error.hpp"
#include "core/user_level/user_mean.hpp"
#include "core/user_level/window_error.hpp"
#include "core/user_level/window_interval.hpp"
#include "support/context_testing.hpp"
#include "support/law_testing.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile {
namespace {

using test::GroupedRows;
using test::heap;
using test::TestContext;
using test::TestWorkspace;
using test::UserValues;

UserQuery automatic(double epsilon, ContributionRule rule = ContributionRule::kOptimal,
                    std::uint64_t most = 0) {
  return {UserMethod::kAuto, rule, most, pure(epsilon)};
}

UserQuery chosen(const std::vector<UsersWithRows>& histogram, const UserQuery& query) {
  return chosen_mean_query(query, RowsPerUser(histogram, heap()));
}

TEST(AutoMethod, ClipsTheArraysOfManyUsersOnly) {
  EXPECT_EQ(chosen({{10, 5}}, automatic(1)).method, UserMethod::kArray);
  EXPECT_EQ(chosen({{10, 300}}, automatic(0.01)).method, UserMethod::kArray);
  EXPECT_EQ(chosen({{10, 3000}}, automatic(1)).method, UserMethod::kQuantile);
}

TEST(AutoMethod, KeepsFewRowsOfHeavyUsersIfEpsilonIsSmall) {
  const std::vector<UsersWithRows> heavy = {{10, 300}, {1000, 1}};
  EXPECT_LE(chosen(heavy, automatic(0.1)).max_contributions, 10U);
  EXPECT_EQ(chosen(heavy, automatic(1000)).max_contributions, 1000U);
}

TEST(AutoMethod, KeepsTheStatedRowsOfAUser) {
  const std::vector<UsersWithRows> histogram = {{3, 300}, {40, 200}};
  for (const double epsilon : {0.01, 1.0, 100.0}) {
    const auto of_rule = [&](ContributionRule rule, std::uint64_t most) {
      return chosen(histogram, automatic(epsilon, rule, most)).max_contributions;
    };
    EXPECT_EQ(of_rule(ContributionRule::kMedian, 0), 3U);
    EXPECT_EQ(of_rule(ContributionRule::kFixed, 7), 7U);
    EXPECT_EQ(of_rule(ContributionRule::kFixed, 0xffffffff), 40U);
  }
}

// sqrt(pi rho) = epsilon: the noise of the whole budget is the same, so nearly the same choice. But
// the interval takes less of rho.
TEST(AutoMethod, ChoosesUnderRhoAsWell) {
  const auto under = [](double rho) {
    return UserQuery{UserMethod::kAuto, ContributionRule::kOptimal, 0, zcdp(rho)};
  };
  EXPECT_EQ(chosen({{10, 5}}, under(0.3)).method, UserMethod::kArray);
  EXPECT_EQ(chosen({{10, 3000}}, under(0.3)).method, UserMethod::kQuantile);
  EXPECT_EQ(chosen({{10, 3000}}, under(0.3)).privacy, zcdp(0.3));
  EXPECT_EQ(chosen({{10, 300}}, automatic(0.1)).method, UserMethod::kArray);
  EXPECT_EQ(chosen({{10, 300}}, under(0.01 / std::numbers::pi)).method, UserMethod::kQuantile);
  const std::vector<UsersWithRows> heavy = {{10, 300}, {1000, 1}};
  EXPECT_LE(chosen(heavy, under(0.003)).max_contributions, 10U);
  EXPECT_EQ(chosen(heavy, under(1000)).max_contributions, 1000U);
  EXPECT_EQ(chosen({}, under(1)).privacy, zcdp(1));
}

// The error of a choice by the definition, if the users' means have this standard deviation.
double model_error(const RowsPerUser& counts, UserMethod method, std::uint64_t bound,
                   const PrivacyParameter& privacy, double offset) {
  const auto kept = static_cast<double>(counts.kept(bound));
  const auto rows = static_cast<double>(counts.rows());
  const double within = (1 / kept - 1 / rows) / 36;
  double between = 0;
  double squares = 0;
  for (const UsersWithRows& run : counts.runs()) {
    const auto users = static_cast<double>(run.users);
    const auto own = static_cast<double>(std::min(run.rows, bound));
    between += users * std::pow(own / kept - static_cast<double>(run.rows) / rows, 2);
    squares += users * own * own;
  }
  const auto length = static_cast<double>(bound);
  double clipped = expected_noise(privacy) * length / kept;
  const double count = std::max(1.0, kept / length);
  const WindowPlan plan =
      plan_windows(static_cast<std::uint64_t>(count), 5 * expected_noise(privacy), privacy);
  if (method == UserMethod::kQuantile && plan.parts > 0) {
    const double spread = std::sqrt(1 / (36 * length) + offset * offset * squares / kept / length);
    const double noise =
        expected_noise(share_of(privacy, kBudgetParts - plan.parts)) * length / kept;
    clipped =
        expected_window_error({count, spread}, plan, interval_epsilon(privacy, plan.parts), noise);
  }
  const double left_out = std::max(0.0, offset * offset * between + within);
  return std::hypot(clipped, std::sqrt(2 / std::numbers::pi * left_out));
}

// No other choice has a smaller error in the model where its error is further above the least one.
TEST(AutoMethod, HasTheLeastRegret) {
  const std::vector<std::vector<UsersWithRows>> histograms = {
      {{10, 300}}, {{1, 50}, {10, 30}, {200, 4}, {900, 1}}, {{100, 500}, {3000, 20}}, {{7, 9000}}};
  for (const auto& histogram : histograms) {
    const RowsPerUser counts(histogram, heap());
    for (const PrivacyParameter& privacy : {pure(0.1), pure(1), pure(5), zcdp(0.01), zcdp(1)}) {
      std::vector<std::uint64_t> bounds = {counts.most(), median_bound(counts),
                                           array_concentration_bound(counts)};
      for (std::uint64_t bound = 1; bound < counts.most(); bound *= 2) bounds.push_back(bound);
      struct Choice {
        UserMethod method;
        std::uint64_t bound;
        double errors[2];
      };
      std::vector<Choice> choices;
      for (const std::uint64_t bound : bounds) {
        for (const UserMethod method : {UserMethod::kArray, UserMethod::kQuantile}) {
          choices.push_back({method,
                             bound,
                             {model_error(counts, method, bound, privacy, 0),
                              model_error(counts, method, bound, privacy, 1.0 / 12)}});
        }
      }
      const auto regret = [&](const Choice& choice) {
        double largest = 0;
        for (const std::size_t model : {0U, 1U}) {
          double least = std::numeric_limits<double>::infinity();
          for (const Choice& other : choices) least = std::min(least, other.errors[model]);
          largest = std::max(largest, choice.errors[model] / least);
        }
        return largest;
      };
      const UserQuery query =
          chosen_mean_query({UserMethod::kAuto, ContributionRule::kOptimal, 0, privacy}, counts);
      const auto chosen_one = std::ranges::find_if(choices, [&](const Choice& choice) {
        return choice.method == query.method && choice.bound == query.max_contributions;
      });
      ASSERT_NE(chosen_one, choices.end());
      for (const Choice& choice : choices)
        EXPECT_LE(regret(*chosen_one), regret(choice) * (1 + 1e-12));
    }
  }
}

TEST(AutoMethod, LeavesOtherMethodsAsTheyAre) {
  for (const UserMethod method : {UserMethod::kLevy, UserMethod::kBaseline}) {
    const UserQuery query = chosen({{10, 3000}}, {method, ContributionRule::kMedian, 0, pure(1)});
    EXPECT_EQ(query.method, method);
    EXPECT_EQ(query.rule, ContributionRule::kMedian);
  }
}

TEST(AutoMethod, IsArrayWithoutRows) {
  EXPECT_EQ(chosen({}, automatic(1)).method, UserMethod::kArray);
}

TEST(AutoMethod, ForecastsTheChosenMethod) {
  TestContext context;
  for (const std::uint64_t users : {1U, 30U, 3000U}) {
    const std::vector<UsersWithRows> histogram = {{10, users}, {50, 2}};
    const RowsPerUser counts(histogram, heap());
    const UserErrorForecast forecast = forecast_mean_error(counts, automatic(1), context);
    const UserErrorForecast expected =
        forecast_mean_error(counts, chosen(histogram, automatic(1)), context);
    EXPECT_EQ(forecast.max_contributions, expected.max_contributions);
    EXPECT_EQ(forecast.left_out, expected.left_out);
    EXPECT_EQ(forecast.noise, expected.noise);
  }
}

// Half of the users have 0, the others 1 as values; the few have 20 rows, so 'auto' draws from the
// law of 'array' with its m_UB: Laplace noise of scale m / (epsilon N) about the kept mean.
TEST(AutoMethod, HasTheLawOfTheChosenMethod) {
  constexpr int kDraws = 20'000;
  constexpr std::size_t kParts = 12;
  constexpr double kEpsilon = 2;
  UserValues data(20, {0});
  for (std::size_t i = 0; i < 10; ++i) data[i] = {FixedPoint::kOne};
  data.push_back(std::vector<std::uint32_t>(20, FixedPoint::kOne));
  data.push_back(std::vector<std::uint32_t>(20, 0));
  const GroupedRows rows(data);
  const RowsPerUser counts(*rows, TestWorkspace());
  const UserQuery query = chosen_mean_query(automatic(kEpsilon), counts);
  ASSERT_EQ(query.method, UserMethod::kArray);
  ASSERT_LT(query.max_contributions, 20U);
  const double scale = static_cast<double>(query.max_contributions) /
                       static_cast<double>(counts.kept(query.max_contributions)) / kEpsilon;
  TestContext context;
  std::vector<std::uint64_t> observed(kParts);
  for (int i = 0; i < kDraws; ++i) {
    const double z =
        (user_mean(*rows, automatic(kEpsilon), context) / double{FixedPoint::kOne} - 0.5) / scale;
    const double below = z < 0 ? std::exp(z) / 2 : 1 - std::exp(-z) / 2;
    ++observed[std::min(kParts - 1, static_cast<std::size_t>(below * kParts))];
  }
  EXPECT_GT(test::law_p_value(observed, std::vector<double>(kParts, 1.0 / kParts)),
            test::kLawFalseAlarm);
}

}  // namespace
}  // namespace dpquantile
