#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dpquantile {

// A level-uniform tree over the bins 0 .. bins - 1. Level 0 is the root, every node of level i - 1
// has branching[i - 1] children on level i, and the leaves on the last level are the bins. Nodes at
// the right edge have only the children that hold a bin. The nodes of a level are numbered from the
// left. An array of all nodes except the root holds level 1 first, then level 2, and so on.
class LevelTree {
 public:
  // Throws std::invalid_argument unless is_valid().
  LevelTree(std::uint32_t bins, std::span<const std::uint32_t> branching);

  static constexpr std::uint32_t kMaxBins = std::uint32_t{1} << 20;
  static constexpr std::size_t kMaxLevels = 20;

  // Whether 1 <= bins <= kMaxBins, there are 1 .. kMaxLevels levels, every branching is at least 2
  // and at most bins, and the tree has at least as many leaves as bins, but fewer without its first
  // level. As an exception, a tree of one bin has one level with branching 1.
  static bool is_valid(std::uint32_t bins, std::span<const std::uint32_t> branching);

  std::uint32_t bins() const { return bins_; }
  // The number of levels below the root, h.
  std::size_t levels() const { return branching_.size(); }
  // The number of children of a full node of this level; level < levels().
  std::uint32_t branching(std::size_t level) const { return branching_[level]; }
  // The number of bins below a full node of this level, 0 .. levels().
  std::uint64_t stride(std::size_t level) const { return strides_[level]; }
  // The number of nodes of this level, 0 .. levels().
  std::uint32_t nodes(std::size_t level) const { return nodes_[level]; }
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
  std::vector<std::uint32_t> nodes_;    // by level
  std::vector<std::size_t> offsets_;    // by level; then the end
};

}  // namespace dpquantile
