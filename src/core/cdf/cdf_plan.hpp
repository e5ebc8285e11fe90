#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/cdf/cdf_tree.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// The public plan of a release's noise. Every node of level i + 1 of the tree is counted with the
// noise of level_budget()[i]: discrete Laplace of scale 1 / epsilon_i (pure), or discrete Gaussian
// of variance 1 / (2 rho_i) (zCDP). A plan of method kFactorization has no levels: bins and privacy
// tell its noise. Plain data.
struct CdfPlan {
  CdfMethod method;
  std::uint32_t bins;
  PrivacyParameter privacy;
  std::uint32_t levels;  // 1 .. LevelTree::kMaxLevels; 0 for kFactorization
  std::array<std::uint32_t, LevelTree::kMaxLevels> branchings;
  std::array<double, LevelTree::kMaxLevels> level_budgets;  // 0 beyond `levels`

  std::span<const std::uint32_t> branching() const { return std::span(branchings).first(levels); }
  // Each level's part of epsilon or rho. The sum of the parts is at most the whole. The same holds
  // for the rational numbers with which the noise is drawn (rational_epsilon(),
  // gaussian_variance()).
  std::span<const double> level_budget() const { return std::span(level_budgets).first(levels); }

  bool operator==(const CdfPlan&) const = default;
};

// Throws ParameterError if the method does not give guarantees in this measure: kFactorization has
// Gaussian noise.
void check_cdf_method(CdfMethod method, PrivacyMeasure measure);

// Chooses the plan for these parameters. Requires 1 <= bins <= LevelTree::kMaxBins and a `privacy`
// that check_privacy_parameter() accepts. Throws ParameterError as check_cdf_method() does,
// std::bad_alloc.
CdfPlan choose_cdf_plan(CdfMethod method, std::uint32_t bins, const PrivacyParameter& privacy);

// A function with the result of choose_cdf_plan(), which may keep plans.
using CdfPlanChooser = CdfPlan (*)(CdfMethod method, std::uint32_t bins,
                                   const PrivacyParameter& privacy);

// The rho for which a release with this plan is rho-zCDP: the plan's rho, or for an epsilon the sum
// of rho_of_pure(epsilon_i) over the levels, rounded upwards. One record changes one count of a
// level by 1. Laplace noise on it is no better than randomised response with epsilon_i, so
// rho_of_pure() is exact there.
double rho_of_cdf(const CdfPlan& plan);

}  // namespace dpquantile
