#include "core/selection/group_selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "support/parameter_error.hpp"
#include "support/random_testing.hpp"

namespace dpquantile {
namespace {

using test::expect_parameter_error;
using test::FailingSource;
using test::ScriptedSource;

// The recursion of the paper.
std::vector<long double> optimal(long double epsilon, long double delta, std::uint64_t rows) {
  std::vector<long double> keep{0};
  while (keep.size() <= rows) {
    const long double last = keep.back();
    keep.push_back(std::min(
        {std::exp(epsilon) * last + delta, 1 - std::exp(-epsilon) * (1 - last - delta), 1.0L}));
  }
  return keep;
}

TEST(GroupSelection, KeepsAsTheOptimalRecursionDoes) {
  for (const double epsilon : {0.01, 0.1, 0.5, 1.0, 3.0, 10.0}) {
    for (const double delta : {1e-12, 1e-6, 1e-3, 0.1, 0.5}) {
      const GroupSelection selection(epsilon, delta);
      const auto expected = optimal(epsilon, delta, selection.rows_always_kept() + 2);
      for (std::size_t rows = 0; rows < expected.size(); ++rows) {
        const double keep = selection.keep_probability(rows);
        ASSERT_LE(keep, static_cast<double>(expected[rows]) * (1 + 1e-12))
            << epsilon << " " << rows;
        ASSERT_NEAR(keep / std::max(static_cast<double>(expected[rows]), 1e-300), rows > 0, 1e-4);
      }
    }
  }
}

TEST(GroupSelection, NeverShowsAGroupWithoutRowsAndHardlyAnyOfOne) {
  const GroupSelection selection(1, 1e-6);
  EXPECT_EQ(selection.keep_probability(0), 0);
  EXPECT_LE(selection.keep_probability(1), 1e-6);
  EXPECT_GT(selection.keep_probability(1), 0.999e-6);
}

TEST(GroupSelection, KeepsMoreTheMoreRowsThereAre) {
  for (const double epsilon : {1e-6, 1e-3, 0.7, 1000.0}) {
    for (const double delta : {1e-290, 1e-15, 1e-6, 0.5}) {
      const GroupSelection selection(epsilon, delta);
      double last = 0;
      const std::uint64_t step = std::max<std::uint64_t>(1, selection.rows_always_kept() / 1000);
      for (std::uint64_t i = 0; i < 1100; ++i) {
        const double keep = selection.keep_probability(i * step);
        ASSERT_GE(keep, last);
        last = keep;
      }
      EXPECT_EQ(last, 1);
      EXPECT_EQ(selection.keep_probability(~std::uint64_t{0}), 1);
    }
  }
}

TEST(GroupSelection, ForecastsWhatIsKept) {
  const GroupSelection selection(1, 1e-6);
  EXPECT_EQ(selection.rows_kept_half_the_time(), 14);
  EXPECT_EQ(selection.rows_always_kept(), 28);
  for (const double epsilon : {1e-6, 0.1, 20.0}) {
    const GroupSelection any(epsilon, 1e-9);
    EXPECT_GE(any.keep_probability(any.rows_kept_half_the_time()), 0.5);
    EXPECT_LT(any.keep_probability(any.rows_kept_half_the_time() - 1), 0.5);
    EXPECT_EQ(any.keep_probability(any.rows_always_kept()), 1);
    EXPECT_LT(any.keep_probability(any.rows_always_kept() - 1), 1);
  }
}

TEST(GroupSelection, DividesEpsilonAndDeltaAmongTheGroupsOfAUser) {
  const GroupSelection four(1, 1e-6, 4);
  const GroupSelection quarter(0.25, 0.25e-6);
  for (std::uint64_t rows = 0; rows < 100; ++rows) {
    EXPECT_EQ(four.keep_probability(rows), quarter.keep_probability(rows));
  }
}

TEST(GroupSelection, DrawsOneUniformRealWhateverTheRows) {
  for (const std::uint64_t rows : {0U, 1U, 14U, 28U, 1000U}) {
    ScriptedSource source({0, 0});
    RandomStream random(source);
    EXPECT_NO_THROW(GroupSelection(1, 1e-6).draw_keep(rows, random));
  }
  FailingSource source;
  EXPECT_THROW(
      {
        RandomStream random(source);
        GroupSelection(1, 1e-6).draw_keep(5, random);
      },
      RandomnessUnavailable);
}

// Theorem Z5: a user in up to k groups costs k times what epsilon / k costs in rho, with all of
// delta.
TEST(SelectionCost, IsThatOfIndependentDecisions) {
  const PrivacyCost of_rows = selection_cost(1, 1e-6);
  EXPECT_EQ(*of_rows.epsilon, 1);
  EXPECT_EQ(of_rows.delta, 1e-6);
  EXPECT_EQ(*of_rows.rho, rho_of_pure(1));
  const PrivacyCost of_users = selection_cost(1, 1e-6, 4);
  EXPECT_EQ(*of_users.epsilon, 1);
  EXPECT_EQ(of_users.delta, 1e-6);
  EXPECT_EQ(*of_users.rho, 4 * rho_of_pure(0.25));
  EXPECT_GE(*selection_cost(1, 1e-6, 3).rho, 3 * rho_of_pure(1.0 / 3));
}

TEST(GroupSelection, RefusesParametersOutOfRange) {
  expect_parameter_error("delta must be between 1e-290 and 0.5, got 0.6",
                         "Choose a delta far below 1 / (number of rows), for example 1e-06; "
                         "smaller is more private.",
                         [] { GroupSelection(1, 0.6); });
  expect_parameter_error("epsilon and delta do not suffice for persons in up to 2000000 groups",
                         "Each group gets an equal part of both. Allow fewer groups of a person.",
                         [] { GroupSelection(1, 1e-6, 2'000'000); });
  EXPECT_THROW(GroupSelection(1, 0), ParameterError);
  EXPECT_THROW(GroupSelection(1, NAN), ParameterError);
  EXPECT_THROW(GroupSelection(1, 1e-291), ParameterError);
  EXPECT_THROW(GroupSelection(1, 1e-290, 2), ParameterError);
  EXPECT_THROW(GroupSelection(1, 1e-6, 0), ParameterError);
  EXPECT_THROW(GroupSelection(1e-7, 1e-6), ParameterError);
  EXPECT_THROW(GroupSelection(NAN, 1e-6), ParameterError);
}

}  // namespace
}  // namespace dpquantile
