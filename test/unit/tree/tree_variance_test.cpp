#include "core/tree/tree_variance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/dense_least_squares.hpp"
#include "support/random_trees.hpp"

namespace dpquantile {
namespace {

using test::DenseLeastSquares;
using test::MeasuredTree;
using test::random_trees;

using Branching = std::vector<std::uint32_t>;
using Weights = std::vector<double>;

constexpr double kTolerance = 1e-10;

const std::vector<MeasuredTree> kFullTrees = {
    {1, {1}, {2}},
    {6, {6}, {0.5}},
    {4, {2, 2}, {1, 1}},
    {16, {4, 4}, {0.1, 3}},
    {27, {3, 3, 3}, {1, 2, 4}},
    {30, {2, 3, 5}, {5, 0.2, 1}},
    {32, {2, 2, 2, 2, 2}, {1, 1, 1, 1, 1}},
};

const std::vector<MeasuredTree> kTreesCutShort = {
    {3, {2, 2}, {1, 1}},          {5, {2, 2, 2}, {1, 3, 0.5}},
    {7, {3, 3}, {1, 1}},          {8, {3, 3}, {2, 0.3}},
    {10, {3, 4}, {1, 1}},         {10, {4, 3}, {0.1, 1}},
    {13, {2, 3, 3}, {3, 2, 1}},   {17, {2, 2, 2, 2, 2}, {1, 2, 3, 4, 5}},
    {25, {2, 2, 7}, {1, 1, 0.4}}, {33, {3, 3, 4}, {0.2, 0.5, 1}},
    {11, {2, 10}, {1, 1}},        {31, {2, 4, 4}, {7, 0.01, 1}},
};

const std::vector<MeasuredTree> kTreesWithLevelsNotMeasured = {
    {9, {3, 3}, {0, 1}},        {8, {2, 2, 2}, {1, 0, 1}},
    {11, {2, 3, 2}, {0, 0, 2}}, {21, {2, 2, 2, 3}, {1, 0, 0, 1}},
    {29, {3, 3, 4}, {0, 2, 1}},
};

std::vector<MeasuredTree> all_trees() {
  std::vector<MeasuredTree> all = kFullTrees;
  all.insert(all.end(), kTreesCutShort.begin(), kTreesCutShort.end());
  all.insert(all.end(), kTreesWithLevelsNotMeasured.begin(), kTreesWithLevelsNotMeasured.end());
  return all;
}

void expect_variances_of_dense_solver(const std::vector<MeasuredTree>& trees) {
  for (const auto& [bins, branching, weights] : trees) {
    const LevelTree tree(bins, branching);
    const PrefixVariance variance(tree, weights);
    const DenseLeastSquares dense(bins, branching, weights);
    for (std::uint32_t k = 1; k <= bins; ++k) {
      const double expected = dense.prefix_variance(k);
      ASSERT_NEAR(variance.at(k), expected, kTolerance * expected) << bins << " " << k;
    }
    const double average = dense.average_prefix_variance();
    EXPECT_NEAR(variance.average(), average, kTolerance * average) << bins;
  }
}

TEST(PrefixVariance, AgreesWithTheDenseSolverOnFullTrees) {
  expect_variances_of_dense_solver(kFullTrees);
}

TEST(PrefixVariance, AgreesWithTheDenseSolverOnTreesCutOffAtTheRight) {
  expect_variances_of_dense_solver(kTreesCutShort);
}

TEST(PrefixVariance, AgreesWithTheDenseSolverWhereLevelsAreNotMeasured) {
  expect_variances_of_dense_solver(kTreesWithLevelsNotMeasured);
}

TEST(PrefixVariance, AgreesWithTheDenseSolverOnRandomTrees) {
  expect_variances_of_dense_solver(random_trees(300, 40));
}

TEST(PrefixVariance, WorstIsTheFirstPrefixWithTheLargestVariance) {
  std::vector<MeasuredTree> trees = all_trees();
  for (const MeasuredTree& tree : random_trees(100, 40)) trees.push_back(tree);
  for (const auto& [bins, branching, weights] : trees) {
    const LevelTree tree(bins, branching);
    const DenseLeastSquares dense(bins, branching, weights);
    std::vector<double> variances;
    for (std::uint32_t k = 1; k <= bins; ++k) variances.push_back(dense.prefix_variance(k));
    const double greatest = *std::ranges::max_element(variances);
    const auto first =
        std::ranges::find_if(variances, [&](double v) { return v > greatest * (1 - 1e-8); });
    EXPECT_EQ(PrefixVariance(tree, weights).worst(), first - variances.begin() + 1) << bins;
  }
}

TEST(PrefixVariance, GrowsLinearlyInAHistogram) {
  constexpr std::uint32_t kBins = 1000;
  const LevelTree tree(kBins, Branching{kBins});
  const PrefixVariance variance(tree, Weights{0.5});
  for (std::uint32_t k = 1; k <= kBins; ++k) ASSERT_NEAR(variance.at(k), 2.0 * k, 1e-8);
  EXPECT_NEAR(variance.average(), kBins + 1, 1e-7);
  EXPECT_EQ(variance.worst(), kBins);
}

TEST(PrefixVariance, AverageIsTheMeanOverAllPrefixesOfLargeTrees) {
  const std::vector<MeasuredTree> trees = {
      {1024, {8, 8, 16}, {0.02, 0.04, 0.1}},
      {1000, {11, 10, 10}, {1, 2, 3}},
      {3001, Branching(12, 2), Weights(12, 1)},
      {2049, {2, 40, 30}, {1, 0, 0.3}},
  };
  for (const auto& [bins, branching, weights] : trees) {
    const LevelTree tree(bins, branching);
    const PrefixVariance variance(tree, weights);
    double sum = 0;
    for (std::uint32_t k = 1; k <= bins; ++k) sum += variance.at(k);
    EXPECT_NEAR(variance.average(), sum / bins, 1e-9 * sum / bins) << bins;
  }
}

// --- Subtrees ------------------------------------------------------------------------------------

// The inverse variance of the total of the subtree alone, plus the weight of the node's own
// measurement.
double precision_of(std::size_t level, std::uint32_t bins, const MeasuredTree& tree) {
  const double own = level == 0 ? 0 : tree.weights[level - 1];
  if (level == tree.branching.size()) return own;
  const Branching branching(tree.branching.begin() + static_cast<std::ptrdiff_t>(level),
                            tree.branching.end());
  const Weights weights(tree.weights.begin() + static_cast<std::ptrdiff_t>(level),
                        tree.weights.end());
  return own + 1 / DenseLeastSquares(bins, branching, weights).prefix_variance(bins);
}

TEST(SubtreePrecision, AgreesWithTheDenseSolverAtEveryNode) {
  std::vector<MeasuredTree> trees = all_trees();
  for (const MeasuredTree& tree : random_trees(30, 30)) trees.push_back(tree);
  for (const MeasuredTree& measured : trees) {
    const LevelTree tree(measured.bins, measured.branching);
    const SubtreePrecision precision(tree, measured.weights);
    for (std::size_t level = 0; level <= tree.levels(); ++level) {
      const std::uint64_t stride = tree.stride(level);
      for (std::uint32_t node = 0; node < tree.nodes(level); ++node) {
        const std::uint64_t bins = std::min<std::uint64_t>(stride, measured.bins - node * stride);
        const double expected = precision_of(level, static_cast<std::uint32_t>(bins), measured);
        const double actual = precision.of(level, node);
        ASSERT_NEAR(actual, expected, kTolerance * expected) << measured.bins << " " << level;
        const bool last = node + 1 == tree.nodes(level);
        ASSERT_EQ(actual, last ? precision.edge(level) : precision.full(level));
      }
    }
  }
}

}  // namespace
}  // namespace dpquantile
