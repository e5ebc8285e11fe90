#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/cdf/cdf_tree.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/mechanism_context.hpp"
#include "core/privacy/privacy_parameter.hpp"

// A differentially private cumulative distribution: noisy counts on a level-uniform tree over the
// bins, made consistent and monotone. Manohar 2014 ("Privately Releasing Quantiles"), with the tree
// and the budgets of least error. Statement and proofs: docs/privacy.md, "CDF".
namespace dpquantile {

// The public plan of a release's noise: every node of level i + 1 of the tree is counted with the
// noise of level_budget()[i]: discrete Laplace of scale 1 / epsilon_i (pure), discrete Gaussian of
// variance 1 / (2 rho_i) (zCDP). Plain data.
struct CdfPlan {
  CdfMethod method;
  std::uint32_t bins;
  PrivacyParameter privacy;
  std::uint32_t levels;  // 1 .. LevelTree::kMaxLevels
  std::array<std::uint32_t, LevelTree::kMaxLevels> branchings;
  std::array<double, LevelTree::kMaxLevels> level_budgets;  // 0 beyond `levels`

  std::span<const std::uint32_t> branching() const { return std::span(branchings).first(levels); }
  // The levels' parts of epsilon or rho. Their sum is at most the whole, also of the rational
  // numbers with which the noise is drawn (rational_epsilon(), gaussian_variance()).
  std::span<const double> level_budget() const { return std::span(level_budgets).first(levels); }

  bool operator==(const CdfPlan&) const = default;
};

// The plan for these parameters, which must be in range: 1 <= bins <= LevelTree::kMaxBins,
// check_privacy_parameter(privacy).
CdfPlan choose_cdf_plan(CdfMethod method, std::uint32_t bins, const PrivacyParameter& privacy);

// A function that gives choose_cdf_plan() of its arguments, perhaps from what it has kept.
using CdfPlanChooser = CdfPlan (*)(CdfMethod method, std::uint32_t bins,
                                   const PrivacyParameter& privacy);

// The rho such that a release with this plan is rho-zCDP: that of the plan, or the sum of
// rho_of_pure(epsilon_i) over the levels. A level's Laplace noise hides one count that changes by
// 1, which is randomised response with epsilon_i and no better: rho_of_pure() is exact there.
double rho_of_cdf(const CdfPlan& plan);

// For each bin the released number of records in it and in those before it: non-decreasing and at
// least 0. The last is the released number of records. `counts` holds the records in each bin.
//
// Privacy: epsilon-differentially private (or rho-zCDP) for adding or removing one record. The
// noise is exact; a record is counted by one node on each level, and all that follows is
// post-processing.
//
// Throws RandomnessUnavailable, Cancelled, std::bad_alloc. O(bins) memory and time but for the
// noise.
std::pmr::vector<std::int64_t> release_cdf(std::span<const std::uint64_t> counts,
                                           const CdfPlan& plan, const MechanismContext& context);

// release_cdf() as a mechanism, with its privacy.
class CdfMechanism final : public Mechanism {
 public:
  explicit CdfMechanism(const CdfPlan& plan)
      : Mechanism(cost_with_rho(plan.privacy, rho_of_cdf(plan))), plan_(plan) {}

  const CdfPlan& plan() const { return plan_; }
  std::pmr::vector<std::int64_t> draw(std::span<const std::uint64_t> counts,
                                      const MechanismContext& context) const {
    return release_cdf(counts, plan_, context);
  }

 private:
  CdfPlan plan_;
};

// The same release before it is rounded to whole rows. As private, as all of it is post-processing
// of the same noisy counts.
std::pmr::vector<double> release_unrounded_cdf(std::span<const std::uint64_t> counts,
                                               const CdfPlan& plan,
                                               const MechanismContext& context);

// What release_cdf() makes of noisy node counts (laid out as by LevelTree, whole numbers).
std::pmr::vector<std::int64_t> cumulative_from_measurements(const CdfPlan& plan,
                                                            std::span<double> nodes,
                                                            std::pmr::memory_resource* memory);

}  // namespace dpquantile
