#include "core/cdf_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cdf_testing.hpp"
#include "core/tree_variance.hpp"
#include "dense_least_squares.hpp"

namespace dpquantile {
namespace {

using test::Branching;
using test::DenseLeastSquares;
using test::kCdfMethods;

using Shares = std::vector<double>;

constexpr std::uint32_t kMostBins = LevelTree::kMaxBins;

// The error of an average prefix for shares that sum to anything, scaled to a sum of 1.
double error_of(const LevelTree& tree, const Shares& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  Shares weights = shares;
  for (double& weight : weights) weight *= weight / (2 * sum * sum);
  return PrefixVariance(tree, weights).average();
}

double error_of(std::uint32_t bins, const CdfTree& tree) {
  return error_of(LevelTree(bins, tree.branching), tree.shares);
}

// --- Brute force ---------------------------------------------------------------------------------

// The least error over the shares: each is made larger and smaller by turns, in ever finer steps.
double least_error_over_shares(const LevelTree& tree) {
  Shares shares(tree.levels(), 1);
  double least = error_of(tree, shares);
  for (double step = 1.5; step > 1.004; step = std::sqrt(step)) {
    for (bool better = true; better;) {
      better = false;
      for (double& share : shares) {
        for (const double factor : {step, 1 / step}) {
          share *= factor;
          const double error = error_of(tree, shares);
          if (error < least * (1 - 1e-7)) {
            least = error;
            better = true;
          } else {
            share /= factor;
          }
        }
      }
    }
  }
  return least;
}

// Over all trees whose lower levels have these branchings, and all with more levels on top of them.
// The top level's branching is not free: beyond what the bins need, it changes nothing.
double least_error_over_trees(std::uint32_t bins, const Branching& lower, std::uint32_t leaves) {
  Branching branching = {(bins + leaves - 1) / leaves};
  branching.insert(branching.end(), lower.begin(), lower.end());
  double least = least_error_over_shares(LevelTree(bins, branching));
  for (std::uint32_t n = 2; n * leaves < bins; ++n) {
    branching.front() = n;
    least = std::min(least, least_error_over_trees(bins, branching, n * leaves));
  }
  return least;
}

TEST(ChosenTree, HasTheLeastErrorOfAllTreesWithinOnePerCent) {
  std::vector<std::uint32_t> all_bins = {41, 47, 50, 57, 64, 65};
  for (std::uint32_t bins = 1; bins <= 36; ++bins) all_bins.push_back(bins);
  for (const std::uint32_t bins : all_bins) {
    const double chosen = error_of(bins, choose_cdf_tree(CdfMethod::kTree, bins));
    const double least = least_error_over_trees(bins, {}, 1);
    EXPECT_LE(chosen, 1.01 * least) << bins;
    EXPECT_GE(chosen, 0.999 * least) << bins;
  }
}

TEST(ChosenTree, HasTheErrorThatTheDenseSolverGives) {
  for (const std::uint32_t bins : {5U, 16U, 33U, 64U}) {
    const CdfTree tree = choose_cdf_tree(CdfMethod::kTree, bins);
    const DenseLeastSquares dense(bins, tree.branching, level_weights(tree.shares));
    EXPECT_NEAR(error_of(bins, tree), dense.average_prefix_variance(), 1e-9) << bins;
  }
}

// The prototype's trees for 1024 bins, with the best budgets, and the poster's.
TEST(ChosenTree, BeatsTreesOfEqualBranching) {
  constexpr std::uint32_t kBins = 1024;
  const double chosen = error_of(kBins, choose_cdf_tree(CdfMethod::kTree, kBins));
  for (const Branching& branching :
       {Branching{8, 8, 16}, Branching{32, 32}, Branching{4, 16, 16}, Branching{4, 4, 4, 16},
        Branching{10, 10, 11}, Branching{1024}, Branching(10, 2)}) {
    const LevelTree tree(kBins, branching);
    EXPECT_LT(chosen, error_of(tree, best_shares(tree))) << branching.size();
  }
  EXPECT_LT(chosen, 0.5 * error_of(kBins, choose_cdf_tree(CdfMethod::kBinary, kBins)));
}

// --- Shares --------------------------------------------------------------------------------------

void expect_no_better_shares(const LevelTree& tree, const Shares& shares) {
  const double error = error_of(tree, shares);
  std::mt19937 random(4);
  for (const double size : {0.5, 0.1, 0.02, 0.005}) {
    for (int i = 0; i < 50; ++i) {
      Shares other = shares;
      for (double& share : other) {
        share *= 1 + size * (static_cast<double>(random() % 2001) / 1000 - 1);
      }
      ASSERT_GT(error_of(tree, other), error * (1 - 1e-7)) << tree.bins();
    }
  }
}

TEST(Shares, OfTheChosenTreeCannotBeImproved) {
  for (const std::uint32_t bins : {16U, 100U, 1000U, 1024U, 5000U, 65536U, kMostBins}) {
    const CdfTree tree = choose_cdf_tree(CdfMethod::kTree, bins);
    expect_no_better_shares(LevelTree(bins, tree.branching), tree.shares);
  }
}

TEST(Shares, OfAnyTreeCannotBeImproved) {
  expect_no_better_shares(LevelTree(1024, Branching{8, 8, 16}),
                          best_shares(LevelTree(1024, Branching{8, 8, 16})));
  expect_no_better_shares(LevelTree(700, Branching{3, 20, 12}),
                          best_shares(LevelTree(700, Branching{3, 20, 12})));
  EXPECT_EQ(best_shares(LevelTree(9, Branching{9})), Shares{1});
}

// The top levels of a deep binary tree are best not measured at all.
TEST(Shares, AreNumbersWhereALevelIsNotWorthABudget) {
  const LevelTree tree(1024, Branching(10, 2));
  const Shares shares = best_shares(tree);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
  EXPECT_LT(std::ranges::min(shares), 0.01);
  expect_no_better_shares(tree, shares);
}

TEST(LevelWeights, AreThePrecisionsOfLaplaceNoise) {
  EXPECT_EQ(level_weights(Shares{1}), Shares{0.5});
  EXPECT_EQ(level_weights(Shares{0.25, 0.75}), (Shares{0.03125, 0.28125}));
}

// --- Every number of bins ------------------------------------------------------------------------

void expect_valid(std::uint32_t bins, const CdfTree& tree) {
  ASSERT_TRUE(LevelTree::is_valid(bins, tree.branching)) << bins;
  ASSERT_EQ(tree.shares.size(), tree.branching.size()) << bins;
  ASSERT_GT(std::ranges::min(tree.shares), 0) << bins;
  ASSERT_NEAR(std::accumulate(tree.shares.begin(), tree.shares.end(), 0.0), 1, 1e-12) << bins;
}

TEST(EveryMethod, GivesATreeForEveryNumberOfBins) {
  std::vector<std::uint32_t> all_bins = {1000, 1023, 1024,           4095,          4096,
                                         4097, 9999, (1U << 16) + 1, kMostBins - 1, kMostBins};
  for (std::uint32_t bins = 1; bins <= 300; ++bins) all_bins.push_back(bins);
  for (const std::uint32_t bins : all_bins) {
    for (const CdfMethod method : kCdfMethods) expect_valid(bins, choose_cdf_tree(method, bins));
  }
}

TEST(ChosenTree, IsNoWorseThanTheOneForAFewMoreBins) {
  double before = 0;
  for (std::uint32_t bins = 1; bins <= 300; ++bins) {
    const double error = error_of(bins, choose_cdf_tree(CdfMethod::kTree, bins));
    EXPECT_GT(error, 0.985 * before) << bins;
    before = error;
  }
}

TEST(BinaryMethod, HalvesTheBinsWithEqualBudgets) {
  const auto expect_levels = [](std::uint32_t bins, std::size_t levels) {
    const CdfTree tree = choose_cdf_tree(CdfMethod::kBinary, bins);
    EXPECT_EQ(tree.branching, Branching(levels, bins == 1 ? 1 : 2)) << bins;
    EXPECT_EQ(tree.shares, Shares(levels, 1 / static_cast<double>(levels))) << bins;
  };
  expect_levels(1, 1);
  expect_levels(2, 1);
  expect_levels(3, 2);
  expect_levels(4, 2);
  expect_levels(5, 3);
  expect_levels(1000, 10);
  expect_levels(1024, 10);
  expect_levels(1025, 11);
  expect_levels(kMostBins, 20);
}

TEST(HistogramMethod, MeasuresEveryBinByItself) {
  for (const std::uint32_t bins : {1U, 2U, 1000U, kMostBins}) {
    const CdfTree tree = choose_cdf_tree(CdfMethod::kHistogram, bins);
    EXPECT_EQ(tree.branching, Branching{bins});
    EXPECT_EQ(tree.shares, Shares{1});
  }
}

TEST(MethodName, IsFoundAgain) {
  EXPECT_STREQ(cdf_method_name(CdfMethod::kTree), "tree");
  EXPECT_STREQ(cdf_method_name(CdfMethod::kBinary), "binary");
  EXPECT_STREQ(cdf_method_name(CdfMethod::kHistogram), "histogram");
  for (const CdfMethod method : kCdfMethods) {
    EXPECT_EQ(find_cdf_method(cdf_method_name(method)), method);
  }
}

TEST(MethodName, IsNotFoundForAnythingElse) {
  for (const char* name : {"", "Tree", "trees", "tree ", "direct"}) {
    EXPECT_EQ(find_cdf_method(name), std::nullopt) << name;
  }
  for (const int number : {0, 4, 255}) {
    EXPECT_EQ(cdf_method_name(static_cast<CdfMethod>(number)), nullptr) << number;
  }
}

}  // namespace
}  // namespace dpquantile
