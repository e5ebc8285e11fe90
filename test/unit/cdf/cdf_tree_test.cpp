#include "core/cdf/cdf_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/tree/tree_variance.hpp"
#include "support/cdf_testing.hpp"
#include "support/dense_least_squares.hpp"

namespace dpquantile {
namespace {

using test::Branching;
using test::DenseLeastSquares;
using test::kCdfMethods;

using Shares = std::vector<double>;

constexpr std::uint32_t kMostBins = LevelTree::kMaxBins;
constexpr PrivacyMeasure kPure = PrivacyMeasure::kPure;
constexpr PrivacyMeasure kZcdp = PrivacyMeasure::kZcdp;

// The error of an average prefix, after scaling the shares to a sum of 1. The variance of the noise
// is 2 / share^2 or 1 / (2 share).
double error_of(const LevelTree& tree, PrivacyMeasure measure, const Shares& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  Shares weights;
  for (const double share : shares) {
    const double part = share / sum;
    weights.push_back(measure == kPure ? part * part / 2 : 2 * part);
  }
  return PrefixVariance(tree, weights).average();
}

double error_of(std::uint32_t bins, PrivacyMeasure measure, const CdfTree& tree) {
  return error_of(LevelTree(bins, tree.branching), measure, tree.shares);
}

// The default tree.
CdfTree chosen_tree(std::uint32_t bins, PrivacyMeasure measure) {
  return choose_cdf_tree(CdfMethod::kTree, bins, measure);
}
double chosen_error(std::uint32_t bins, PrivacyMeasure measure) {
  return error_of(bins, measure, chosen_tree(bins, measure));
}

// --- Brute force ---------------------------------------------------------------------------------

// The least error over the shares. Each share is made larger and smaller in turn, in ever finer
// steps.
double least_error_over_shares(const LevelTree& tree, PrivacyMeasure measure) {
  Shares shares(tree.levels(), 1);
  double least = error_of(tree, measure, shares);
  for (double step = 1.5; step > 1.004; step = std::sqrt(step)) {
    for (bool better = true; better;) {
      better = false;
      for (double& share : shares) {
        for (const double factor : {step, 1 / step}) {
          share *= factor;
          const double error = error_of(tree, measure, shares);
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

// The least error over all trees with these branchings on the lower levels, and over all with more
// levels on top of them. The top level's branching is not free: beyond what the bins need, it
// changes nothing.
double least_error_over_trees(std::uint32_t bins, PrivacyMeasure measure, const Branching& lower,
                              std::uint32_t leaves) {
  Branching branching = {(bins + leaves - 1) / leaves};
  branching.insert(branching.end(), lower.begin(), lower.end());
  double least = least_error_over_shares(LevelTree(bins, branching), measure);
  for (std::uint32_t n = 2; n * leaves < bins; ++n) {
    branching.front() = n;
    least = std::min(least, least_error_over_trees(bins, measure, branching, n * leaves));
  }
  return least;
}

void expect_least_error(std::uint32_t bins, PrivacyMeasure measure) {
  const double chosen = chosen_error(bins, measure);
  const double least = least_error_over_trees(bins, measure, {}, 1);
  EXPECT_LE(chosen, 1.01 * least) << bins;
  EXPECT_GE(chosen, 0.999 * least) << bins;
}

TEST(ChosenTree, HasTheLeastErrorOfAllTreesWithinOnePerCent) {
  for (std::uint32_t bins = 1; bins <= 36; ++bins) expect_least_error(bins, kPure);
  for (const std::uint32_t bins : {41U, 47U, 50U, 57U, 64U, 65U}) expect_least_error(bins, kPure);
}

TEST(ChosenTree, HasTheLeastErrorOfAllTreesWithinOnePerCentForGaussianNoise) {
  for (std::uint32_t bins = 1; bins <= 36; ++bins) expect_least_error(bins, kZcdp);
  for (const std::uint32_t bins : {41U, 47U, 50U, 57U, 64U, 65U}) expect_least_error(bins, kZcdp);
}

TEST(ChosenTree, HasTheErrorOfTheDenseSolver) {
  for (const PrivacyMeasure measure : {kPure, kZcdp}) {
    for (const std::uint32_t bins : {5U, 16U, 33U, 64U}) {
      const CdfTree tree = chosen_tree(bins, measure);
      const DenseLeastSquares dense(bins, tree.branching, level_weights(measure, tree.shares));
      EXPECT_NEAR(error_of(bins, measure, tree), dense.average_prefix_variance(), 1e-9) << bins;
    }
  }
}

// The trees of the prototype for 1024 bins, with the best budgets, and of the poster. For Gaussian
// noise also the trees that are best before the least-squares step, of branching near 5.
TEST(ChosenTree, BeatsTreesOfEqualBranching) {
  constexpr std::uint32_t kBins = 1024;
  for (const PrivacyMeasure measure : {kPure, kZcdp}) {
    const double chosen = chosen_error(kBins, measure);
    for (const Branching& branching :
         {Branching{8, 8, 16}, Branching{32, 32}, Branching{4, 16, 16}, Branching{4, 4, 4, 16},
          Branching{10, 10, 11}, Branching{1024}, Branching(10, 2), Branching(5, 4),
          Branching{3, 4, 4, 5, 5}, Branching{4, 5, 7, 8}}) {
      const LevelTree tree(kBins, branching);
      EXPECT_LT(chosen, error_of(tree, measure, best_shares(tree, measure))) << branching.size();
    }
  }
  EXPECT_LT(chosen_error(kBins, kPure),
            0.5 * error_of(kBins, kPure, choose_cdf_tree(CdfMethod::kBinary, kBins, kPure)));
  EXPECT_LT(chosen_error(kBins, kZcdp),
            0.9 * error_of(kBins, kZcdp, choose_cdf_tree(CdfMethod::kBinary, kBins, kZcdp)));
}

// A tree made for the other noise is worse.
TEST(ChosenTree, IsMadeForItsNoise) {
  for (const std::uint32_t bins : {100U, 1024U, kMostBins}) {
    EXPECT_LT(chosen_error(bins, kPure), error_of(bins, kPure, chosen_tree(bins, kZcdp))) << bins;
    EXPECT_LT(chosen_error(bins, kZcdp), error_of(bins, kZcdp, chosen_tree(bins, kPure))) << bins;
  }
}

// --- Shares --------------------------------------------------------------------------------------

void expect_no_better_shares(const LevelTree& tree, PrivacyMeasure measure, const Shares& shares) {
  const double error = error_of(tree, measure, shares);
  std::mt19937 random(4);
  for (const double size : {0.5, 0.1, 0.02, 0.005}) {
    for (int i = 0; i < 50; ++i) {
      Shares other = shares;
      for (double& share : other) {
        share *= 1 + size * (static_cast<double>(random() % 2001) / 1000 - 1);
      }
      ASSERT_GT(error_of(tree, measure, other), error * (1 - 1e-7)) << tree.bins();
    }
  }
}

TEST(BestShares, CannotBeImprovedForTheChosenTree) {
  for (const PrivacyMeasure measure : {kPure, kZcdp}) {
    for (const std::uint32_t bins : {16U, 100U, 1000U, 1024U, 5000U, 65536U, kMostBins}) {
      const CdfTree tree = chosen_tree(bins, measure);
      expect_no_better_shares(LevelTree(bins, tree.branching), measure, tree.shares);
    }
  }
}

TEST(BestShares, CannotBeImprovedForAnyTree) {
  for (const PrivacyMeasure measure : {kPure, kZcdp}) {
    for (const auto& [bins, branching] :
         {std::pair{1024U, Branching{8, 8, 16}}, {700U, Branching{3, 20, 12}}}) {
      const LevelTree tree(bins, branching);
      expect_no_better_shares(tree, measure, best_shares(tree, measure));
    }
    EXPECT_EQ(best_shares(LevelTree(9, Branching{9}), measure), Shares{1});
  }
}

// With Laplace noise, the top levels of a deep binary tree are best not measured at all.
TEST(BestShares, AreNumbersWhereALevelIsNotWorthABudget) {
  for (const PrivacyMeasure measure : {kPure, kZcdp}) {
    const LevelTree tree(1024, Branching(10, 2));
    const Shares shares = best_shares(tree, measure);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
    EXPECT_EQ(std::ranges::min(shares) < 0.01, measure == kPure);
    expect_no_better_shares(tree, measure, shares);
  }
}

TEST(LevelWeights, AreThePrecisionsOfTheNoise) {
  EXPECT_EQ(level_weights(kPure, Shares{1}), Shares{0.5});
  EXPECT_EQ(level_weights(kPure, Shares{0.25, 0.75}), (Shares{0.03125, 0.28125}));
  EXPECT_EQ(level_weights(kZcdp, Shares{1}), Shares{2});
  EXPECT_EQ(level_weights(kZcdp, Shares{0.25, 0.75}), (Shares{0.5, 1.5}));
}

// --- Every number of bins ------------------------------------------------------------------------

void expect_valid(std::uint32_t bins, const CdfTree& tree) {
  ASSERT_TRUE(LevelTree::is_valid(bins, tree.branching)) << bins;
  ASSERT_EQ(tree.shares.size(), tree.branching.size()) << bins;
  ASSERT_GT(std::ranges::min(tree.shares), 0) << bins;
  ASSERT_NEAR(std::accumulate(tree.shares.begin(), tree.shares.end(), 0.0), 1, 1e-12) << bins;
}

TEST(ChooseCdfTree, GivesATreeForEveryNumberOfBinsWithEveryMethod) {
  std::vector<std::uint32_t> all_bins = {1000, 1023, 1024,           4095,          4096,
                                         4097, 9999, (1U << 16) + 1, kMostBins - 1, kMostBins};
  for (std::uint32_t bins = 1; bins <= 300; ++bins) all_bins.push_back(bins);
  for (const std::uint32_t bins : all_bins) {
    for (const CdfMethod method : kCdfMethods) {
      expect_valid(bins, choose_cdf_tree(method, bins, kPure));
      expect_valid(bins, choose_cdf_tree(method, bins, kZcdp));
    }
  }
}

TEST(ChosenTree, IsAtMostSlightlyWorseThanTheTreeForOneMoreBin) {
  for (const PrivacyMeasure measure : {kPure, kZcdp}) {
    double before = 0;
    for (std::uint32_t bins = 1; bins <= 300; ++bins) {
      const double error = chosen_error(bins, measure);
      EXPECT_GT(error, 0.985 * before) << bins;
      before = error;
    }
  }
}

TEST(BinaryMethod, HalvesTheBinsWithEqualBudgets) {
  const auto expect_levels = [](std::uint32_t bins, std::size_t levels) {
    for (const PrivacyMeasure measure : {kPure, kZcdp}) {
      const CdfTree tree = choose_cdf_tree(CdfMethod::kBinary, bins, measure);
      EXPECT_EQ(tree.branching, Branching(levels, bins == 1 ? 1 : 2)) << bins;
      EXPECT_EQ(tree.shares, Shares(levels, 1 / static_cast<double>(levels))) << bins;
    }
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
    for (const PrivacyMeasure measure : {kPure, kZcdp}) {
      const CdfTree tree = choose_cdf_tree(CdfMethod::kHistogram, bins, measure);
      EXPECT_EQ(tree.branching, Branching{bins});
      EXPECT_EQ(tree.shares, Shares{1});
    }
  }
}

TEST(CdfMethodName, IsTheNameInTheOptionAndTheLedger) {
  EXPECT_STREQ(cdf_method_name(CdfMethod::kTree), "tree");
  EXPECT_STREQ(cdf_method_name(CdfMethod::kBinary), "binary");
  EXPECT_STREQ(cdf_method_name(CdfMethod::kHistogram), "histogram");
  EXPECT_STREQ(cdf_method_name(CdfMethod::kFactorization), "factorization");
}

TEST(CdfMethodName, IsNullForAnUnknownMethod) {
  for (const int number : {0, 5, 255}) {
    EXPECT_EQ(cdf_method_name(static_cast<CdfMethod>(number)), nullptr) << number;
  }
}

}  // namespace
}  // namespace dpquantile
