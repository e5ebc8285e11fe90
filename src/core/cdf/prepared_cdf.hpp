#pragma once

#include <optional>
#include <vector>

#include "core/cdf/cdf_plan.hpp"
#include "core/prefix_sums/prefix_factorization.hpp"
#include "core/privacy/noise_table.hpp"
#include "core/tree/level_tree.hpp"
#include "core/tree/tree_variance.hpp"

namespace dpquantile {

// A plan with all that its releases have in common, for many releases: the tree or the
// factorization, and the tables of the noise. It is public. A plan converts to it for one release.
class PreparedCdf {
 public:
  // O(bins) time and memory. Throws std::bad_alloc.
  PreparedCdf(const CdfPlan& plan);
  PreparedCdf(const PreparedCdf&) = delete;
  PreparedCdf& operator=(const PreparedCdf&) = delete;

  const CdfPlan& plan() const { return plan_; }

  struct Tree {
    explicit Tree(const CdfPlan& plan);
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    LevelTree shape;
    std::vector<double> weights;
    SubtreePrecision precision;
  };
  // For every method except kFactorization.
  const Tree& tree() const { return *tree_; }
  // For kFactorization.
  const PrefixFactorization& factorization() const { return *factorization_; }

  // The noise of level 1, 2, ... of the tree, or that of the factorization's measurements. The
  // first call makes the tables. Throws what NoiseTable does. Not thread-safe.
  const std::vector<NoiseTable>& noise() const;

 private:
  CdfPlan plan_;
  std::optional<Tree> tree_;
  std::optional<PrefixFactorization> factorization_;
  mutable std::vector<NoiseTable> noise_;
};

}  // namespace dpquantile
