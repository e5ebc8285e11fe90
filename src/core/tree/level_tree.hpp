#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dpquantile {

// A level-uniform tree over the bins 0 .. bins - 1: every node of level i - 1 has branching[i - 1]
// children on level i, level 0 is the root, and the leaves of the last level are the bins. At the
// right edge nodes have only the children that hold a bin. Nodes of a level are numbered from the
// left; all levels but the root's lie one after the other in one array, the top level first.
class LevelTree {
 public:
  // Throws std::invalid_argument unless 1 <= bins <= kMaxBins, there are 1 .. kMaxLevels levels,
  // every branching is at least 2 and at most bins, and the tree without its first level has fewer
  // leaves than bins, with it no fewer (a tree of one bin has one level with branching 1).
  LevelTree(std::uint32_t bins, std::span<const std::uint32_t> branching);

  static constexpr std::uint32_t kMaxBins = std::uint32_t{1} << 20;
  static constexpr std::size_t kMaxLevels = 20;

  // Whether the constructor takes these.
  static bool is_valid(std::uint32_t bins, std::span<const std::uint32_t> branching);

  std::uint32_t bins() const { return bins_; }
  // The number of levels below the root, h.
  std::size_t levels() const { return branching_.size(); }
  // The number of children of a full node of this level; level < levels().
  std::uint32_t branching(std::size_t level) const { return branching_[level]; }
  // The number of bins below a full node of this level, 0 .. levels().
  std::uint64_t stride(std::size_t level) const { return strides_[level]; }
  // The number of nodes of this level, 0 .. levels().
  std::uint32_t nodes(std::size_t level) const;
  // Where this level, 1 .. levels(), begins in the array of all nodes.
  std::size_t offset(std::size_t level) const { return offsets_[level]; }
  // The number of nodes without the root.
  std::size_t total_nodes() const { return offsets_.back(); }
  // The number of children of a node; level < levels(), node < nodes(level).
  std::uint32_t children(std::size_t level, std::uint32_t node) const;

 private:
  std::uint32_t bins_;
  std::vector<std::uint32_t> branching_;
  std::vector<std::uint64_t> strides_;  // by level
  std::vector<std::size_t> offsets_;    // by level; then the end
};

}  // namespace dpquantile
