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

// The public plan of a release's noise. Every node of level i + 1 of the tree is counted with the
// noise of level_budget()[i]: discrete Laplace of scale 1 / epsilon_i (pure), or discrete Gaussian
// of variance 1 / (2 rho_i) (zCDP). Plain data.
struct CdfPlan {
  CdfMethod method;
  std::uint32_t bins;
  PrivacyParameter privacy;
  std::uint32_t levels;  // 1 .. LevelTree::kMaxLevels
  std::array<std::uint32_t, LevelTree::kMaxLevels> branchings;
  std::array<double, LevelTree::kMaxLevels> level_budgets;  // 0 beyond `levels`

  std::span<const std::uint32_t> branching() const { return std::span(branchings).first(levels); }
  // Each level's part of epsilon or rho. The sum of the parts is at most the whole. The same holds
  // for the rational numbers with which the noise is drawn (rational_epsilon(),
  // gaussian_variance()).
  std::span<const double> level_budget() const { return std::span(level_budgets).first(levels); }

  bool operator==(const CdfPlan&) const = default;
};

// Chooses the plan for these parameters. Requires 1 <= bins <= LevelTree::kMaxBins and a `privacy`
// that check_privacy_parameter() accepts. Throws std::bad_alloc.
CdfPlan choose_cdf_plan(CdfMethod method, std::uint32_t bins, const PrivacyParameter& privacy);

// A function with the result of choose_cdf_plan(), which may keep plans.
using CdfPlanChooser = CdfPlan (*)(CdfMethod method, std::uint32_t bins,
                                   const PrivacyParameter& privacy);

// The rho for which a release with this plan is rho-zCDP: the plan's rho, or for an epsilon the sum
// of rho_of_pure(epsilon_i) over the levels, rounded upwards. One record changes one count of a
// level by 1. Laplace noise on it is no better than randomised response with epsilon_i, so
// rho_of_pure() is exact there.
double rho_of_cdf(const CdfPlan& plan);

// Releases, for each bin, the number of records in it and in all bins before it: non-decreasing and
// at least 0. The last is the released number of records. `counts` holds the number of records in
// each bin.
//
// Privacy: epsilon-differentially private (or rho-zCDP) for adding or removing one record. The
// noise is exact; a record is counted by one node on each level, and all that follows is
// post-processing.
//
// Throws RandomnessUnavailable, Cancelled, std::bad_alloc. O(bins) memory and time, apart from the
// noise.
std::pmr::vector<std::int64_t> release_cdf(std::span<const std::uint64_t> counts,
                                           const CdfPlan& plan, const MechanismContext& context);

// release_cdf() as a mechanism, with the same privacy.
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

// The same release before it is rounded to whole rows.
//
// Privacy: that of release_cdf(), as post-processing of the same noisy counts. Throws what
// release_cdf() throws.
std::pmr::vector<double> release_unrounded_cdf(std::span<const std::uint64_t> counts,
                                               const CdfPlan& plan,
                                               const MechanismContext& context);

// The post-processing of release_cdf(): turns noisy node counts into its result. `nodes` holds
// whole numbers in the layout of LevelTree and is overwritten. Throws std::bad_alloc.
std::pmr::vector<std::int64_t> cumulative_from_measurements(const CdfPlan& plan,
                                                            std::span<double> nodes,
                                                            std::pmr::memory_resource* memory);

}  // namespace dpquantile
