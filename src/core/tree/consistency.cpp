#include "core/tree/consistency.hpp"

#include <numeric>

namespace dpquantile {

namespace {

std::span<double> children_of(const LevelTree& tree, std::size_t level, std::uint32_t node,
                              std::span<double> nodes) {
  return nodes.subspan(tree.offset(level + 1) + std::size_t{node} * tree.branching(level),
                       tree.children(level, node));
}

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

double estimate_subtrees(const LevelTree& tree, const SubtreePrecision& precision,
                         std::span<const double> weights, std::span<double> nodes) {
  for (std::size_t level = tree.levels() - 1; level > 0; --level) {
    const double own = weights[level - 1];
    for (std::uint32_t node = 0; node < tree.nodes(level); ++node) {
      const double children_sum = sum(children_of(tree, level, node, nodes));
      const double total = precision.of(level, node);
      double& estimate = nodes[tree.offset(level) + node];
      estimate = (own * estimate + (total - own) * children_sum) / total;
    }
  }
  return sum(children_of(tree, 0, 0, nodes));
}

void distribute_from_root(const LevelTree& tree, const SubtreePrecision& precision, double root,
                          std::span<double> nodes) {
  for (std::size_t level = 0; level < tree.levels(); ++level) {
    const double full_variance = 1 / precision.full(level + 1);
    for (std::uint32_t node = 0; node < tree.nodes(level); ++node) {
      const double parent = level == 0 ? root : nodes[tree.offset(level) + node];
      const std::span<double> children = children_of(tree, level, node, nodes);
      const auto first = static_cast<std::uint32_t>(std::size_t{node} * tree.branching(level));
      const auto last = static_cast<std::uint32_t>(first + children.size() - 1);
      const double last_variance = 1 / precision.of(level + 1, last);
      const double total_variance =
          static_cast<double>(children.size() - 1) * full_variance + last_variance;
      const double excess = (parent - sum(children)) / total_variance;
      for (double& child : children.first(children.size() - 1)) child += excess * full_variance;
      children.back() += excess * last_variance;
    }
  }
}

}  // namespace dpquantile
