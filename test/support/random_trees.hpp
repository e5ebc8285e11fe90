#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/tree/level_tree.hpp"

namespace dpquantile::test {

// A level-uniform tree, and the precision of each level's measurements.
struct MeasuredTree {
  std::uint32_t bins;
  std::vector<std::uint32_t> branching;
  std::vector<double> weights;
};

// Trees of 1 .. most_bins bins and 1 .. 5 levels, the same in every run. Most are cut off at the
// right. Every third tree has no measurement of its top level if it has several levels.
inline std::vector<MeasuredTree> random_trees(std::size_t number, std::uint32_t most_bins) {
  std::mt19937 generator(1);
  const auto below = [&](std::uint32_t bound) {
    return static_cast<std::uint32_t>(generator() % bound);
  };
  std::vector<MeasuredTree> trees;
  while (trees.size() < number) {
    MeasuredTree tree{1 + below(most_bins), {}, {}};
    for (std::uint32_t levels = 1 + below(5); levels > 0; --levels) {
      tree.branching.push_back(1 + below(9));
      tree.weights.push_back(0.01 * (1 + below(1000)));
    }
    if (!LevelTree::is_valid(tree.bins, tree.branching)) continue;
    if (trees.size() % 3 == 0 && tree.weights.size() > 1) tree.weights.front() = 0;
    trees.push_back(tree);
  }
  return trees;
}

}  // namespace dpquantile::test
