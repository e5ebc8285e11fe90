#include "core/tree/level_tree.hpp"

#include <algorithm>
#include <stdexcept>

namespace dpquantile {

bool LevelTree::is_valid(std::uint32_t bins, std::span<const std::uint32_t> branching) {
  if (bins < 1 || bins > kMaxBins || branching.empty() || branching.size() > kMaxLevels) {
    return false;
  }
  std::uint64_t leaves = 1;
  for (std::size_t level = branching.size(); level-- > 0;) {
    if (branching[level] < std::min(bins, 2u) || branching[level] > bins) return false;
    if (leaves >= bins && bins > 1) return false;
    leaves *= branching[level];
  }
  return leaves >= bins && (bins > 1 || branching.size() == 1);
}

LevelTree::LevelTree(std::uint32_t bins, std::span<const std::uint32_t> branching)
    : bins_(bins),
      branching_(branching.begin(), branching.end()),
      strides_(branching.size() + 1),
      nodes_(branching.size() + 1),
      offsets_(branching.size() + 2) {
  if (!is_valid(bins, branching)) throw std::invalid_argument("the shape of the tree is invalid");
  strides_.back() = 1;
  for (std::size_t level = levels(); level-- > 0;) {
    strides_[level] = strides_[level + 1] * branching_[level];
  }
  for (std::size_t level = 0; level <= levels(); ++level) {
    nodes_[level] = static_cast<std::uint32_t>((bins + strides_[level] - 1) / strides_[level]);
  }
  for (std::size_t level = 1; level <= levels(); ++level) {
    offsets_[level + 1] = offsets_[level] + nodes(level);
  }
}

std::uint32_t LevelTree::children(std::size_t level, std::uint32_t node) const {
  const std::uint32_t before = node * branching_[level];
  return std::min(branching_[level], nodes(level + 1) - before);
}

}  // namespace dpquantile
