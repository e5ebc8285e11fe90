#pragma once

#include <span>

#include "core/tree/level_tree.hpp"
#include "core/tree/tree_variance.hpp"

// Consistent counts for the nodes of a level-uniform tree, from one noisy measurement of every node
// except the root. The estimates are the generalised least-squares estimates under the constraint
// that every parent is the sum of its children (Hay, Rastogi, Miklau, Suciu 2010, with weights;
// docs/privacy.md, "From noisy counts to a curve"). weights[i - 1] is the precision of the
// measurements on level i >= 1. The two functions are the two passes over the nodes, O(nodes) each.
//
// Privacy: post-processing of the measurements, which costs no privacy.
namespace dpquantile {

// Replaces the measurements in `nodes`, tree.total_nodes() counts in the order of LevelTree, by the
// best estimate of each node's count from the measurements of its own subtree. Returns this
// estimate for the root. `precision` is that of `tree` and `weights`.
double estimate_subtrees(const LevelTree& tree, const SubtreePrecision& precision,
                         std::span<const double> weights, std::span<double> nodes);

// Replaces the estimates of estimate_subtrees() by the best estimates from all measurements, given
// the root's count. If `root` is the return value of estimate_subtrees(), this is the least-squares
// solution.
void distribute_from_root(const LevelTree& tree, const SubtreePrecision& precision, double root,
                          std::span<double> nodes);

}  // namespace dpquantile
