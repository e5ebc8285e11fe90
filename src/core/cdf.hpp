#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/cancel.hpp"
#include "core/cdf_tree.hpp"
#include "core/random.hpp"

// A differentially private cumulative distribution: noisy counts on a level-uniform tree over the
// bins, made consistent and monotone. Manohar 2014 ("Privately Releasing Quantiles"), with the tree
// and the budgets of least error. Statement and proofs: docs/privacy.md, "CDF".
namespace dpquantile {

// The public law of a release's noise: every node of level i + 1 of the tree is counted with
// discrete Laplace noise of parameter level_epsilon()[i]. Plain data.
struct CdfLaw {
  CdfMethod method;
  std::uint32_t bins;
  double epsilon;
  std::uint32_t levels;  // 1 .. LevelTree::kMaxLevels
  std::array<std::uint32_t, LevelTree::kMaxLevels> branchings;
  std::array<double, LevelTree::kMaxLevels> level_epsilons;  // 0 beyond `levels`

  std::span<const std::uint32_t> branching() const { return std::span(branchings).first(levels); }
  // Their sum is at most epsilon, also as rational_epsilon().
  std::span<const double> level_epsilon() const { return std::span(level_epsilons).first(levels); }

  bool operator==(const CdfLaw&) const = default;
};

// The law for these parameters, which must be in range: 1 <= bins <= LevelTree::kMaxBins,
// check_epsilon(epsilon).
CdfLaw choose_cdf_law(CdfMethod method, std::uint32_t bins, double epsilon);

// For each bin the released number of records in it and in those before it: non-decreasing and at
// least 0. The last is the released number of records. `counts` holds the records in each bin.
//
// Privacy: epsilon-differentially private for adding or removing one record. The noise is exact; a
// record is counted by one node on each level, and all that follows is post-processing.
//
// Throws RandomnessUnavailable, Cancelled, std::bad_alloc. O(bins) memory and time but for the
// noise.
std::pmr::vector<std::int64_t> release_cdf(std::span<const std::uint64_t> counts, const CdfLaw& law,
                                           RandomStream& random, CancelPoll& cancel,
                                           std::pmr::memory_resource* memory);

// What release_cdf() makes of noisy node counts (laid out as by LevelTree, whole numbers).
std::pmr::vector<std::int64_t> cumulative_from_measurements(const CdfLaw& law,
                                                            std::span<double> nodes,
                                                            std::pmr::memory_resource* memory);

}  // namespace dpquantile
