#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// Generalised least squares on level-uniform trees by the textbook: inverts a matrix of all bins.
namespace dpquantile::test {

using Real = long double;

struct TreeNode {
  std::size_t level;  // 1 is the top level below the root
  std::uint32_t begin;
  std::uint32_t end;  // the bins begin .. end - 1 lie below the node
};

// All nodes except the root, the top level first and from left to right, as in LevelTree's arrays.
inline std::vector<TreeNode> tree_nodes(std::uint32_t bins,
                                        std::span<const std::uint32_t> branching) {
  std::vector<TreeNode> nodes;
  for (std::size_t level = 1; level <= branching.size(); ++level) {
    std::uint64_t width = 1;
    for (std::size_t below = level; below < branching.size(); ++below) width *= branching[below];
    for (std::uint64_t begin = 0; begin < bins; begin += width) {
      const std::uint64_t end = std::min<std::uint64_t>(begin + width, bins);
      nodes.push_back({level, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    }
  }
  return nodes;
}

// The bins' least-squares counts from one measurement a node, with precision weights[level - 1].
class DenseLeastSquares {
 public:
  DenseLeastSquares(std::uint32_t bins, std::span<const std::uint32_t> branching,
                    std::span<const double> weights)
      : bins_(bins), nodes_(tree_nodes(bins, branching)) {
    std::vector<std::vector<Real>> normal(bins, std::vector<Real>(bins));
    for (const TreeNode& node : nodes_) {
      weights_.push_back(weights[node.level - 1]);
      for (std::uint32_t i = node.begin; i < node.end; ++i) {
        for (std::uint32_t j = node.begin; j < node.end; ++j) normal[i][j] += weights_.back();
      }
    }
    covariance_ = inverse(std::move(normal));
  }

  // The count of each bin. `measured` has the order of tree_nodes().
  template <class Values>
  std::vector<Real> bins(const Values& measured) const {
    std::vector<Real> weighted(bins_);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      for (std::uint32_t i = nodes_[n].begin; i < nodes_[n].end; ++i) {
        weighted[i] += weights_[n] * static_cast<Real>(measured[n]);
      }
    }
    std::vector<Real> counts(bins_);
    for (std::size_t i = 0; i < bins_; ++i) {
      for (std::size_t j = 0; j < bins_; ++j) counts[i] += covariance_[i][j] * weighted[j];
    }
    return counts;
  }

  // The variance of the number of records in the bins 0 .. k - 1.
  double prefix_variance(std::uint32_t k) const {
    Real variance = 0;
    for (std::uint32_t i = 0; i < k; ++i) {
      for (std::uint32_t j = 0; j < k; ++j) variance += covariance_[i][j];
    }
    return static_cast<double>(variance);
  }

  double average_prefix_variance() const {
    double sum = 0;
    for (std::uint32_t k = 1; k <= bins_; ++k) sum += prefix_variance(k);
    return sum / bins_;
  }

 private:
  using Matrix = std::vector<std::vector<Real>>;

  // Gauss-Jordan elimination needs no pivoting, because the matrix is positive definite.
  static Matrix inverse(Matrix matrix) {
    const std::size_t size = matrix.size();
    for (std::size_t pivot = 0; pivot < size; ++pivot) {
      const Real scale = 1 / matrix[pivot][pivot];
      matrix[pivot][pivot] = 1;
      for (Real& entry : matrix[pivot]) entry *= scale;
      for (std::size_t row = 0; row < size; ++row) {
        if (row == pivot) continue;
        const Real factor = std::exchange(matrix[row][pivot], 0);
        if (factor == 0) continue;
        for (std::size_t i = 0; i < size; ++i) matrix[row][i] -= factor * matrix[pivot][i];
      }
    }
    return matrix;
  }

  std::uint32_t bins_;
  std::vector<TreeNode> nodes_;
  std::vector<double> weights_;
  Matrix covariance_;
};

}  // namespace dpquantile::test
