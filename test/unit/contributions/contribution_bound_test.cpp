#include "core/contributions/contribution_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/base/as_size.hpp"
#include "support/context_testing.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile {
namespace {

using test::heap;
using test::TestWorkspace;

using Rows = std::vector<std::uint64_t>;

constexpr double kEpsilons[] = {0.001, 0.01, 0.1, 0.5, 1, 2, 5, 20, 1000};

RowsPerUser counts_of(const Rows& rows) {
  std::vector<UsersWithRows> histogram;
  for (const std::uint64_t own : rows) histogram.push_back({own, 1});
  return RowsPerUser(histogram, heap());
}

std::vector<Rows> many_rows() {
  std::mt19937_64 random(3);
  std::vector<Rows> many = {{1}, {7}, {1, 1}, {1, 1000}, {1, 1, 1, 1, 200}, {5, 5, 5}};
  for (int i = 0; i < 60; ++i) {
    Rows rows(as_size(1 + random() % 30));
    for (std::uint64_t& own : rows) own = 1 + random() % 4 * (random() % 60);
    many.push_back(rows);
  }
  return many;
}

// The formulas of the source, term by term.
double kept_of(const Rows& rows, std::uint64_t bound) {
  double kept = 0;
  for (const std::uint64_t own : rows) kept += static_cast<double>(std::min(own, bound));
  return kept;
}

double reference_mean_error(const Rows& rows, std::uint64_t m, double epsilon) {
  const double kept = kept_of(rows, m);
  const double all = kept_of(rows, std::numeric_limits<std::uint64_t>::max());
  return 1 - kept / all + static_cast<double>(m) / (epsilon * kept);
}

double least_over_all_bounds(const Rows& rows, double (*error)(const Rows&, std::uint64_t, double),
                             double epsilon) {
  const auto [least, most] = std::minmax_element(rows.begin(), rows.end());
  double smallest = std::numeric_limits<double>::infinity();
  for (std::uint64_t m = *least; m <= *most; ++m) {
    smallest = std::min(smallest, error(rows, m, epsilon));
  }
  return smallest;
}

// The sensitivity has the source's cases. The left-out error has them for the opposite conditions.
double reference_variance_sensitivity(double kept, double most) {
  if (kept > 2 * most) return most * (kept - most) / (kept * kept);
  return std::fmod(kept, 2) == 0 ? 0.25 : 0.25 * (1 - 1 / (kept * kept));
}

double reference_variance_error(const Rows& rows, std::uint64_t m, double epsilon) {
  const double kept = kept_of(rows, m);
  const double all = kept_of(rows, std::numeric_limits<std::uint64_t>::max());
  double left_out = 0;
  if (kept < all) {
    left_out = all < 2 * kept           ? kept * (all - kept) / (all * all)
               : std::fmod(all, 2) == 0 ? 0.25
                                        : 0.25 * (1 - 1 / (all * all));
  }
  return left_out + reference_variance_sensitivity(kept, static_cast<double>(m)) / epsilon;
}

TEST(RowsPerUser, CountsUsersRowsAndKeptRows) {
  const std::vector<UsersWithRows> histogram = {{5, 2}, {1, 3}, {0, 9}, {7, 0}, {5, 1}};
  const RowsPerUser counts(histogram, heap());
  EXPECT_EQ(counts.users(), 6U);
  EXPECT_EQ(counts.rows(), 18U);
  EXPECT_EQ(counts.most(), 5U);
  EXPECT_EQ(counts.runs().size(), 2U);
  EXPECT_EQ(counts.kept(1), 6U);
  EXPECT_EQ(counts.kept(3), 12U);
  EXPECT_EQ(counts.kept(1000), 18U);
}

TEST(RowsPerUser, CountsGroupedRows) {
  const test::GroupedRows rows(test::UserValues{{1}, {2, 3}, {4}, {1, 1, 1, 1}});
  const RowsPerUser counts(*rows, TestWorkspace());
  EXPECT_EQ(counts.users(), 4U);
  EXPECT_EQ(counts.rows(), 8U);
  EXPECT_EQ(counts.most(), 4U);
  EXPECT_EQ(counts.kept(2), 6U);
}

TEST(RowsPerUser, RefusesMoreRowsThanCanBeSummed) {
  for (const UsersWithRows entry :
       {UsersWithRows{1, std::uint64_t{1} << 32}, UsersWithRows{std::uint64_t{1} << 32, 1},
        UsersWithRows{~std::uint64_t{0}, ~std::uint64_t{0}}}) {
    EXPECT_THROW(RowsPerUser(std::span(&entry, 1), heap()), std::length_error);
  }
}

TEST(LeastMeanErrorBound, IsOptimalAmongAllBounds) {
  for (const Rows& rows : many_rows()) {
    for (const double epsilon : kEpsilons) {
      const std::uint64_t bound = least_mean_error_bound(counts_of(rows), epsilon);
      EXPECT_NE(std::find(rows.begin(), rows.end(), bound), rows.end());
      const double least = least_over_all_bounds(rows, reference_mean_error, epsilon);
      EXPECT_NEAR(reference_mean_error(rows, bound, epsilon), least, 1e-12 * (1 + least));
    }
  }
}

TEST(LeastMeanErrorBound, GrowsWithEpsilon) {
  for (const Rows& rows : many_rows()) {
    std::uint64_t before = 0;
    for (const double epsilon : kEpsilons) {
      const std::uint64_t bound = least_mean_error_bound(counts_of(rows), epsilon);
      EXPECT_GE(bound, before);
      before = bound;
    }
  }
}

// The smallest m_l is best up to smallest_epsilon, and the largest above largest_epsilon.
TEST(LeastMeanErrorBound, IsTheSmallestOrLargestCountForExtremeEpsilon) {
  for (const Rows& rows : many_rows()) {
    const RowsPerUser counts = counts_of(rows);
    const auto least = static_cast<double>(*std::min_element(rows.begin(), rows.end()));
    const auto users = static_cast<double>(rows.size());
    const auto all = static_cast<double>(counts.rows());
    const double smallest_epsilon = least / (users * all);
    const double largest_epsilon = std::pow(all / (users * least), 2);
    EXPECT_EQ(least_mean_error_bound(counts, largest_epsilon * 1.0000001), counts.most());
    if (users < 2) continue;
    const std::uint64_t bound = least_mean_error_bound(counts, smallest_epsilon);
    EXPECT_EQ(static_cast<double>(bound), least);
  }
}

TEST(LeastVarianceErrorBound, IsOptimalAmongAllBoundsUpToParity) {
  for (const Rows& rows : many_rows()) {
    for (const double epsilon : kEpsilons) {
      const std::uint64_t bound = least_variance_error_bound(counts_of(rows), epsilon);
      const double error = reference_variance_error(rows, bound, epsilon);
      const double least = least_over_all_bounds(rows, reference_variance_error, epsilon);
      const double fewest = kept_of(rows, *std::min_element(rows.begin(), rows.end()));
      const double parity = 0.25 / (epsilon * fewest * fewest);
      EXPECT_LE(error, least + parity + 1e-12);
    }
  }
}

TEST(MedianBound, IsTheLowerMedian) {
  EXPECT_EQ(median_bound(counts_of({3})), 3U);
  EXPECT_EQ(median_bound(counts_of({9, 3})), 3U);
  EXPECT_EQ(median_bound(counts_of({9, 3, 4})), 4U);
  EXPECT_EQ(median_bound(counts_of({9, 3, 4, 4, 20})), 4U);
  EXPECT_EQ(median_bound(counts_of({1, 2, 3, 4})), 2U);
}

TEST(ArrayConcentrationBound, MaximisesTheNumberOfArraysTimesTheRootOfTheirLength) {
  for (const Rows& rows : many_rows()) {
    const RowsPerUser counts = counts_of(rows);
    const auto value = [&](std::uint64_t m) {
      return std::floor(kept_of(rows, m) / static_cast<double>(m)) *
             std::sqrt(static_cast<double>(m));
    };
    double most = 0;
    for (const std::uint64_t own : rows) most = std::max(most, value(own));
    EXPECT_NEAR(value(array_concentration_bound(counts)), most, 1e-9 * most);
  }
}

TEST(ContributionBounds, AreZeroWithoutUsers) {
  const RowsPerUser nobody = counts_of({});
  EXPECT_EQ(least_mean_error_bound(nobody, 1), 0U);
  EXPECT_EQ(least_variance_error_bound(nobody, 1), 0U);
  EXPECT_EQ(median_bound(nobody), 0U);
  EXPECT_EQ(array_concentration_bound(nobody), 0U);
  EXPECT_EQ(nobody.most(), 0U);
}

}  // namespace
}  // namespace dpquantile
