#include "core/tree/consistency.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/dense_least_squares.hpp"
#include "support/random_trees.hpp"

namespace dpquantile {
namespace {

using test::DenseLeastSquares;
using test::random_trees;
using test::Real;
using test::tree_nodes;
using test::TreeNode;

using Branching = std::vector<std::uint32_t>;
using Weights = std::vector<double>;

constexpr double kTolerance = 1e-9;

struct Measurements {
  std::uint32_t bins;
  Branching branching;
  Weights weights;
  std::vector<double> nodes;
};

std::vector<Measurements> random_measurements(std::size_t number, std::uint32_t most_bins) {
  std::mt19937 random(2);
  std::vector<Measurements> all;
  for (const auto& [bins, branching, weights] : random_trees(number, most_bins)) {
    all.push_back({bins, branching, weights, {}});
    for (std::size_t i = tree_nodes(bins, branching).size(); i > 0; --i) {
      all.back().nodes.push_back(static_cast<double>(random() % 2001) - 1000);
    }
  }
  return all;
}

// Makes the nodes consistent and returns the root.
double solve(const Measurements& given, std::vector<double>& nodes) {
  const LevelTree tree(given.bins, given.branching);
  const SubtreePrecision precision(tree, given.weights);
  nodes = given.nodes;
  const double root = estimate_subtrees(tree, precision, given.weights, nodes);
  distribute_from_root(tree, precision, root, nodes);
  return root;
}

TEST(LeastSquares, AgreesWithTheDenseSolver) {
  for (const Measurements& given : random_measurements(400, 40)) {
    std::vector<double> nodes;
    const double root = solve(given, nodes);
    const std::vector<Real> bins =
        DenseLeastSquares(given.bins, given.branching, given.weights).bins(given.nodes);
    const std::vector<TreeNode> ranges = tree_nodes(given.bins, given.branching);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      Real expected = 0;
      for (std::uint32_t i = ranges[n].begin; i < ranges[n].end; ++i) expected += bins[i];
      ASSERT_NEAR(nodes[n], static_cast<double>(expected), 1000 * kTolerance) << given.bins;
    }
    Real total = 0;
    for (const Real bin : bins) total += bin;
    ASSERT_NEAR(root, static_cast<double>(total), 1000 * kTolerance) << given.bins;
  }
}

TEST(LeastSquares, MakesEveryParentTheSumOfItsChildren) {
  for (const Measurements& given : random_measurements(50, 3000)) {
    std::vector<double> nodes;
    const double root = solve(given, nodes);
    const LevelTree tree(given.bins, given.branching);
    for (std::size_t level = 0; level < tree.levels(); ++level) {
      for (std::uint32_t node = 0; node < tree.nodes(level); ++node) {
        double sum = 0;
        for (std::uint32_t child = 0; child < tree.children(level, node); ++child) {
          sum += nodes[tree.offset(level + 1) + node * tree.branching(level) + child];
        }
        const double parent = level == 0 ? root : nodes[tree.offset(level) + node];
        ASSERT_NEAR(parent, sum, 1e-6) << given.bins << " " << level << " " << node;
      }
    }
  }
}

TEST(LeastSquares, KeepsConsistentMeasurements) {
  for (Measurements given : random_measurements(100, 200)) {
    const std::vector<TreeNode> ranges = tree_nodes(given.bins, given.branching);
    for (std::size_t n = 0; n < ranges.size(); ++n) {
      given.nodes[n] = 0;
      for (std::uint32_t i = ranges[n].begin; i < ranges[n].end; ++i) given.nodes[n] += i * i % 7;
    }
    std::vector<double> nodes;
    solve(given, nodes);
    for (std::size_t n = 0; n < nodes.size(); ++n) ASSERT_NEAR(nodes[n], given.nodes[n], 1e-7);
  }
}

TEST(LeastSquares, KeepsTheMeasurementsOfAHistogram) {
  std::vector<double> nodes;
  EXPECT_EQ(solve({4, {4}, {0.7}, {3, -1, 4, 1}}, nodes), 7);
  EXPECT_EQ(nodes, (std::vector<double>{3, -1, 4, 1}));
}

// The root is 7 instead of the estimate 0.
TEST(DistributeFromRoot, SharesTheDifferenceByTheVariances) {
  const LevelTree tree(3, Branching{2, 2});
  const Weights weights = {1, 1};
  const SubtreePrecision precision(tree, weights);
  std::vector<double> nodes = {0, 0, 0, 0, 0};
  EXPECT_EQ(estimate_subtrees(tree, precision, weights, nodes), 0);
  distribute_from_root(tree, precision, 7, nodes);
  // The pair has the variance 1/1.5, the bin that is measured twice has 1/2.
  const std::vector<double> expected = {4, 3, 2, 2, 3};
  for (std::size_t n = 0; n < nodes.size(); ++n) EXPECT_NEAR(nodes[n], expected[n], kTolerance);
}

}  // namespace
}  // namespace dpquantile
