#pragma once

#include <span>

#include "core/tree/level_tree.hpp"
#include "core/tree/tree_variance.hpp"

// The generalised least-squares estimate of all node counts of a level-uniform tree from one
// measurement a node, of precision weights[i - 1] on level i >= 1, such that every parent is the
// sum of its children (Hay, Rastogi, Miklau, Suciu 2010, with weights). Two passes over the nodes,
// O(nodes). Post-processing of the measurements: it costs no privacy.
namespace dpquantile {

// Turns the measurements of `nodes` (laid out as by LevelTree) into the best estimates from each
// node's own subtree, and returns that of the root.
double estimate_subtrees(const LevelTree& tree, const SubtreePrecision& precision,
                         std::span<const double> weights, std::span<double> nodes);

// Turns the subtree estimates into the best estimates from all measurements, given the root's
// count. With the return value of estimate_subtrees() that is the least-squares solution.
void distribute_from_root(const LevelTree& tree, const SubtreePrecision& precision, double root,
                          std::span<double> nodes);

}  // namespace dpquantile
