#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tree/level_tree.hpp"

namespace dpquantile {

// The precision (one over the variance) of the best estimate of a node's count that uses only the
// measurements of the node and of those below it, where every node of level i >= 1 was measured
// with precision weights[i - 1] and the root was not (Hay et al. 2010, bottom-up pass, with a
// weight a level). A level may have weight 0 (not measured) but for the last.
//
// Nodes of a level are alike but for the last, at the right edge, which may have fewer children.
// The tree must outlive this.
class SubtreePrecision {
 public:
  SubtreePrecision(const LevelTree& tree, std::span<const double> weights);

  // Of a node of a level 0 .. levels().
  double full(std::size_t level) const { return full_[level]; }
  double edge(std::size_t level) const { return edge_[level]; }
  double of(std::size_t level, std::uint32_t node) const {
    return node + 1 == tree_.nodes(level) ? edge_[level] : full_[level];
  }

 private:
  const LevelTree& tree_;
  std::vector<double> full_;
  std::vector<double> edge_;
};

// The variance of the least-squares estimates of prefix counts: the number of records in the bins
// 0 .. k - 1, 1 <= k <= bins.
class PrefixVariance {
 public:
  // As SubtreePrecision; the tree must outlive this.
  PrefixVariance(const LevelTree& tree, std::span<const double> weights)
      : tree_(tree), precision_(tree, weights) {}

  // For one k. O(levels).
  double at(std::uint32_t k) const;
  // The average over all k. O(sum of branchings).
  double average() const;
  // The k with the greatest variance, the first of several. O(bins * levels).
  std::uint32_t worst() const;

 private:
  const LevelTree& tree_;
  SubtreePrecision precision_;
};

}  // namespace dpquantile
