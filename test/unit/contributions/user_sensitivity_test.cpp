#include "core/contributions/user_sensitivity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/contributions/fixed_point.hpp"

// Checks the theorems on sensitivity and left-out error by brute force: all values of 0, 1/2 and 1
// for a small number of rows, divided among users in all ways. A mean or a variance depends only on
// how many values of a group are 0, 1/2 and 1.
namespace dpquantile {
namespace {

// Sums of a group of values in halves, all exact in doubles.
struct Group {
  double count;
  double sum;
  double squares;
};

Group operator+(const Group& a, const Group& b) {
  return {a.count + b.count, a.sum + b.sum, a.squares + b.squares};
}

double mean(const Group& group) {
  return group.sum / group.count;
}
double variance(const Group& group) {
  return group.squares / group.count - mean(group) * mean(group);
}

std::vector<Group> all_groups(int count) {
  std::vector<Group> groups;
  for (int ones = 0; ones <= count; ++ones) {
    for (int halves = 0; halves + ones <= count; ++halves) {
      groups.push_back({static_cast<double>(count), ones + halves / 2.0, ones + halves / 4.0});
    }
  }
  return groups;
}

struct Largest {
  double mean = 0;
  double variance = 0;

  void see(const Group& one, const Group& other) {
    mean = std::max(mean, std::abs(dpquantile::mean(one) - dpquantile::mean(other)));
    variance =
        std::max(variance, std::abs(dpquantile::variance(one) - dpquantile::variance(other)));
  }
};

// One user has `own` of `all` values and replaces them.
Largest largest_change(int all, int own) {
  Largest largest;
  for (const Group& others : all_groups(all - own)) {
    for (const Group& before : all_groups(own)) {
      for (const Group& after : all_groups(own)) largest.see(others + before, others + after);
    }
  }
  return largest;
}

// `kept` of `all` values are kept.
Largest largest_left_out_error(int all, int kept) {
  Largest largest;
  for (const Group& inside : all_groups(kept)) {
    for (const Group& left_out : all_groups(all - kept)) largest.see(inside, inside + left_out);
  }
  return largest;
}

constexpr int kMostRows = 11;
constexpr double kRounding = 1e-12;

std::uint64_t units_rounded_up(double fraction) {
  return static_cast<std::uint64_t>(std::ceil(fraction * FixedPoint::kOne - 1e-3));
}

// Covers odd and even numbers of rows, and users with fewer and more than half of them.
TEST(UserSensitivity, EqualsTheLargestChange) {
  for (int all = 1; all <= kMostRows; ++all) {
    for (int own = 1; own <= all; ++own) {
      const auto n = static_cast<std::uint64_t>(all);
      const auto most = static_cast<std::uint64_t>(own);
      const Largest change = largest_change(all, own);
      EXPECT_NEAR(mean_sensitivity_fraction(n, most), change.mean, kRounding) << all << " " << own;
      EXPECT_NEAR(variance_sensitivity_fraction(n, most), change.variance, kRounding)
          << all << " " << own;
      EXPECT_EQ(mean_sensitivity(n, most), units_rounded_up(change.mean));
      EXPECT_EQ(variance_sensitivity(n, most), units_rounded_up(change.variance));
    }
  }
}

TEST(UserSensitivity, IsNotLargerForAUserWithFewerRows) {
  for (std::uint64_t kept = 1; kept <= 40; ++kept) {
    for (std::uint64_t most = 2; most <= kept; ++most) {
      EXPECT_LE(mean_sensitivity(kept, most - 1), mean_sensitivity(kept, most));
      EXPECT_LE(variance_sensitivity(kept, most - 1), variance_sensitivity(kept, most));
    }
  }
}

TEST(UserSensitivity, HasTheThreeCasesOfTheSourceForTheVariance) {
  for (std::uint64_t kept = 1; kept <= 40; ++kept) {
    for (std::uint64_t most = 1; most <= kept; ++most) {
      const auto n = static_cast<double>(kept);
      const auto gamma = static_cast<double>(most);
      double expected = 0.25 * (1 - 1 / (n * n));
      if (kept % 2 == 0) expected = 0.25;
      if (kept > 2 * most) expected = gamma * (n - gamma) / (n * n);
      EXPECT_NEAR(variance_sensitivity_fraction(kept, most), expected, kRounding);
    }
  }
}

TEST(UserSensitivity, IsRoundedUpForLargeCounts) {
  constexpr std::uint64_t kLargest = 0xffffffff;
  EXPECT_EQ(mean_sensitivity(kLargest, 1), 1U);
  EXPECT_EQ(variance_sensitivity(kLargest, 1), 1U);
  EXPECT_EQ(mean_sensitivity(kLargest, kLargest), FixedPoint::kOne);
  EXPECT_EQ(variance_sensitivity(kLargest, kLargest), FixedPoint::kOne / 4);
  EXPECT_EQ(variance_sensitivity(1, 1), 0U);
}

TEST(LeftOutError, EqualsTheLargestDistance) {
  for (int all = 1; all <= kMostRows; ++all) {
    for (int kept = 1; kept <= all; ++kept) {
      const Largest error = largest_left_out_error(all, kept);
      const auto n = static_cast<std::uint64_t>(all);
      const auto rest = static_cast<std::uint64_t>(kept);
      EXPECT_NEAR(mean_left_out_error(n, rest), error.mean, kRounding) << all << " " << kept;
      EXPECT_NEAR(variance_left_out_error(n, rest), error.variance, kRounding)
          << all << " " << kept;
    }
  }
}

TEST(LeftOutError, IsSmallForTheVarianceWhenFewRowsAreLeftOut) {
  EXPECT_NEAR(variance_left_out_error(10, 9), 0.09, kRounding);
}

}  // namespace
}  // namespace dpquantile
