#include "core/tree/tree_variance.hpp"

namespace dpquantile {

namespace {

// The prefix ends in a child of variance `child`; the full children to its left have variances that
// sum to `before`, and all children to `all`. Let s_c = 1 / p_c be the variances of the children's
// subtree estimates z_c and S their sum. Then the final estimates are u_c = z_c + s_c / S (u - sum
// z) (docs/privacy.md, "From noisy counts to a curve").
PrefixRelation prefix_in_parent(const PrefixRelation& in_child, double before, double child,
                                double all) {
  const double mixed = before + in_child.share * child;
  return {mixed / all,
          in_child.rest + before + in_child.share * in_child.share * child - mixed * mixed / all};
}

// Sums of a PrefixRelation over the prefixes k = 0 .. leaves - 1 within a subtree.
struct PrefixSums {
  double leaves;
  double share;
  double squared_share;
  double rest;
};

void add(PrefixSums& sum, const PrefixSums& child, double before, double variance, double all) {
  const double mixed = before * child.leaves + variance * child.share;
  const double squared = before * before * child.leaves + 2 * before * variance * child.share +
                         variance * variance * child.squared_share;
  sum.leaves += child.leaves;
  sum.share += mixed / all;
  sum.squared_share += squared / (all * all);
  sum.rest += child.rest + before * child.leaves + variance * child.squared_share - squared / all;
}

// The sums of a node with `children` children, all of them full except perhaps the last.
PrefixSums sums_of_parent(std::uint32_t children, const PrefixSums& full, double full_variance,
                          const PrefixSums& last, double last_variance) {
  PrefixSums sum{};
  const double all = (children - 1) * full_variance + last_variance;
  for (std::uint32_t c = 0; c + 1 < children; ++c) {
    add(sum, full, c * full_variance, full_variance, all);
  }
  add(sum, last, (children - 1) * full_variance, last_variance, all);
  return sum;
}

}  // namespace

SubtreePrecision::SubtreePrecision(const LevelTree& tree, std::span<const double> weights)
    : tree_(tree), full_(tree.levels() + 1), edge_(tree.levels() + 1) {
  const std::size_t last = tree.levels();
  full_[last] = edge_[last] = weights[last - 1];
  for (std::size_t level = last; level-- > 0;) {
    const double own = level == 0 ? 0 : weights[level - 1];
    const std::uint32_t at_edge = tree.children(level, tree.nodes(level) - 1);
    full_[level] = own + full_[level + 1] / tree.branching(level);
    edge_[level] = own + 1 / ((at_edge - 1) / full_[level + 1] + 1 / edge_[level + 1]);
  }
}

double PrefixVariance::average() const {
  PrefixSums full{1, 0, 0, 0};
  PrefixSums edge = full;
  for (std::size_t level = tree_.levels(); level-- > 0;) {
    const double full_variance = 1 / precision_.full(level + 1);
    const double edge_variance = 1 / precision_.edge(level + 1);
    const std::uint32_t at_edge = tree_.children(level, tree_.nodes(level) - 1);
    edge = sums_of_parent(at_edge, full, full_variance, edge, edge_variance);
    full = sums_of_parent(tree_.branching(level), full, full_variance, full, full_variance);
  }
  const double total_variance = 1 / precision_.edge(0);
  // The sums cover k = 0 .. bins - 1. k = 0 adds nothing, and k = bins is the total.
  return (edge.rest + (edge.squared_share + 1) * total_variance) / tree_.bins();
}

PrefixRelation PrefixVariance::relation(std::uint32_t k) const {
  if (k == tree_.bins()) return {1, 0};
  PrefixRelation relation{0, 0};
  for (std::size_t level = tree_.levels(); level-- > 0;) {
    const auto child = static_cast<std::uint32_t>(k / tree_.stride(level + 1));
    const std::uint32_t parent = child / tree_.branching(level);
    const std::uint32_t first = parent * tree_.branching(level);
    const std::uint32_t last = first + tree_.children(level, parent) - 1;
    const double full_variance = 1 / precision_.full(level + 1);
    const double all = (last - first) * full_variance + 1 / precision_.of(level + 1, last);
    relation = prefix_in_parent(relation, (child - first) * full_variance,
                                1 / precision_.of(level + 1, child), all);
  }
  return relation;
}

std::uint32_t PrefixVariance::worst() const {
  std::uint32_t worst = 1;
  double greatest = at(worst);
  for (std::uint32_t k = 2; k <= tree_.bins(); ++k) {
    const double variance = at(k);
    if (variance > greatest * (1 + 1e-9)) {
      greatest = variance;
      worst = k;
    }
  }
  return worst;
}

}  // namespace dpquantile
