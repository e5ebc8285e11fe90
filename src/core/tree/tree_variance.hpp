#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tree/level_tree.hpp"

namespace dpquantile {

// The precision (1 / variance) of the best estimate of a node's count from the measurements of the
// node and of the nodes below it. Every node of level i >= 1 was measured with precision
// weights[i - 1]; the root was not measured (Hay et al. 2010, bottom-up pass, with one weight for
// each level). A weight of 0 means that a level was not measured; the last level has a positive
// weight.
//
// All nodes of a level have the same precision, except the last one at the right edge, which may
// have fewer children. The tree must outlive this object.
class SubtreePrecision {
 public:
  SubtreePrecision(const LevelTree& tree, std::span<const double> weights);

  // On a level 0 .. levels(): of every node except the last, of the last node, and of a given node.
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

// How a prefix count within a node's subtree depends on the node's own estimate u: it equals share
// * u plus a part of variance `rest` that is uncorrelated with u.
struct PrefixRelation {
  double share;
  double rest;
};

// The variance of the least-squares estimates of prefix counts. Prefix count k is the number of
// records in the bins 0 .. k - 1, 1 <= k <= bins. The variance depends on the tree and the weights
// only, not on data (docs/privacy.md, "From noisy counts to a curve").
class PrefixVariance {
 public:
  // The parameters are those of SubtreePrecision. The tree must outlive this object.
  PrefixVariance(const LevelTree& tree, std::span<const double> weights)
      : tree_(tree), precision_(tree, weights) {}

  // The variance of prefix count k. O(levels).
  double at(std::uint32_t k) const { return beyond_fraction(relation(k), 0); }
  // How prefix count k depends on the total. O(levels).
  PrefixRelation relation(std::uint32_t k) const;
  // The variance of a prefix count minus a fraction of the total.
  double beyond_fraction(const PrefixRelation& prefix, double fraction) const {
    const double share = prefix.share - fraction;
    return prefix.rest + share * share / precision_.edge(0);
  }
  // The average over all k. O(sum of branchings).
  double average() const;
  // The k with the greatest variance. Variances within a relative 1e-9 count as equal, and the
  // smallest such k is returned. O(bins * levels).
  std::uint32_t worst() const;

 private:
  const LevelTree& tree_;
  SubtreePrecision precision_;
};

}  // namespace dpquantile
