#include "core/tree/level_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "support/dense_least_squares.hpp"

namespace dpquantile {
namespace {

using test::tree_nodes;
using test::TreeNode;

using Branching = std::vector<std::uint32_t>;

struct Shape {
  std::uint32_t bins;
  Branching branching;
};

const std::vector<Shape> kShapes = {
    {1, {1}},           {2, {2}},         {7, {7}},           {4, {2, 2}},
    {5, {2, 2, 2}},     {7, {3, 3}},      {9, {3, 3}},        {10, {3, 4}},
    {10, {4, 3}},       {13, {2, 3, 3}},  {25, {2, 2, 7}},    {64, {4, 4, 4}},
    {65, {5, 4, 4}},    {100, {3, 7, 5}}, {100, {100}},       {33, {2, 2, 2, 2, 2, 2}},
    {1000, {8, 8, 16}}, {11, {2, 10}},    {17, {4, 2, 2, 2}}, {127, {2, 8, 8}},
};

// The nodes of a LevelTree, as ranges of bins.
std::vector<TreeNode> nodes_of(const LevelTree& tree) {
  std::vector<TreeNode> nodes;
  for (std::size_t level = 1; level <= tree.levels(); ++level) {
    EXPECT_EQ(tree.offset(level), nodes.size());
    for (std::uint64_t node = 0; node < tree.nodes(level); ++node) {
      const std::uint64_t begin = node * tree.stride(level);
      const std::uint64_t end = std::min<std::uint64_t>(begin + tree.stride(level), tree.bins());
      nodes.push_back({level, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    }
  }
  EXPECT_EQ(tree.total_nodes(), nodes.size());
  return nodes;
}

TEST(LevelTree, CoversTheBinsOnEveryLevelInOneArray) {
  for (const auto& [bins, branching] : kShapes) {
    const std::vector<TreeNode> expected = tree_nodes(bins, branching);
    const std::vector<TreeNode> nodes = nodes_of(LevelTree(bins, branching));
    ASSERT_EQ(nodes.size(), expected.size()) << bins;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      ASSERT_EQ(nodes[i].level, expected[i].level) << bins;
      ASSERT_EQ(nodes[i].begin, expected[i].begin) << bins;
      ASSERT_EQ(nodes[i].end, expected[i].end) << bins;
    }
  }
}

TEST(LevelTree, HasOneRootAndOneLeafPerBin) {
  for (const auto& [bins, branching] : kShapes) {
    const LevelTree tree(bins, branching);
    EXPECT_EQ(tree.nodes(0), 1U);
    EXPECT_EQ(tree.nodes(tree.levels()), bins);
    EXPECT_EQ(tree.stride(tree.levels()), 1U);
    EXPECT_EQ(tree.levels(), branching.size());
  }
}

TEST(LevelTree, CountsTheChildrenOfEveryNode) {
  for (const auto& [bins, branching] : kShapes) {
    const LevelTree tree(bins, branching);
    for (std::size_t level = 0; level < tree.levels(); ++level) {
      std::uint32_t before = 0;
      for (std::uint32_t node = 0; node < tree.nodes(level); ++node) {
        ASSERT_EQ(before, node * branching[level]);
        ASSERT_GE(tree.children(level, node), 1U);
        if (node + 1 < tree.nodes(level)) {
          ASSERT_EQ(tree.children(level, node), branching[level]);
        }
        before += tree.children(level, node);
      }
      ASSERT_EQ(before, tree.nodes(level + 1));
    }
  }
}

TEST(LevelTree, SupportsStridesBeyond32Bits) {
  constexpr std::uint32_t kBins = LevelTree::kMaxBins;
  const LevelTree binary(kBins, Branching(20, 2));
  EXPECT_EQ(binary.total_nodes(), 2 * std::size_t{kBins} - 2);
  const LevelTree wide(kBins, Branching{kBins, kBins - 1});
  EXPECT_EQ(wide.stride(0), std::uint64_t{kBins} * (kBins - 1));
  EXPECT_EQ(wide.nodes(1), 2U);
  EXPECT_EQ(wide.children(1, 1), 1U);
}

void expect_valid(std::uint32_t bins, const Branching& branching) {
  EXPECT_TRUE(LevelTree::is_valid(bins, branching)) << bins;
  EXPECT_NO_THROW(LevelTree(bins, branching)) << bins;
}

void expect_invalid(std::uint32_t bins, const Branching& branching) {
  EXPECT_FALSE(LevelTree::is_valid(bins, branching)) << bins;
  EXPECT_THROW(LevelTree(bins, branching), std::invalid_argument) << bins;
}

TEST(LevelTree, NeedsExactlyEnoughLevelsForItsBins) {
  for (const auto& [bins, branching] : kShapes) expect_valid(bins, branching);
  expect_invalid(4, {3});
  expect_invalid(9, {2, 2, 2});
  expect_valid(8, {2, 2, 2});
  expect_valid(5, {2, 2, 2});
  expect_invalid(4, {2, 2, 2});
  expect_invalid(4, {2, 4});
  expect_valid(4, {2, 3});
}

TEST(LevelTree, AllowsOneToTheMostBins) {
  expect_invalid(0, {1});
  expect_invalid(0, {0});
  expect_valid(1, {1});
  expect_invalid(1, {2});
  expect_invalid(1, {1, 1});
  expect_valid(LevelTree::kMaxBins, {LevelTree::kMaxBins});
  expect_invalid(LevelTree::kMaxBins + 1, {LevelTree::kMaxBins + 1});
}

TEST(LevelTree, AllowsOneTo20Levels) {
  expect_invalid(2, {});
  expect_valid(LevelTree::kMaxBins, Branching(20, 2));
  expect_invalid(LevelTree::kMaxBins, Branching(21, 2));
}

// A level with one child per node would measure the level above again.
TEST(LevelTree, AllowsBranchingsFromTwoToTheNumberOfBins) {
  expect_invalid(5, {5, 1});
  expect_invalid(8, {4, 1, 2});
  expect_invalid(5, {0});
  expect_invalid(5, {5, 0});
  expect_invalid(5, {0, 5});
  expect_invalid(5, {6});
  expect_invalid(5, {6, 2});
  expect_invalid(5, {0xffffffff, 0xffffffff});
  expect_valid(5, {5, 4});
}

}  // namespace
}  // namespace dpquantile
