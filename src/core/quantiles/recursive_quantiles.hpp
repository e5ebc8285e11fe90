#pragma once

#include <cstdint>
#include <span>

#include "core/exponential/rank.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/quantiles/recursion_plan.hpp"

namespace dpquantile {

// Draws quantiles level by level. The positions drawn on a level cut the axis and the mass of the
// records. The part between two cuts is a data set of its own for the levels below. With one
// quantile on each level this is ApproximateQuantiles (AQ) of Kaplan, Schnapp and Stemmer 2022,
// Algorithm 1; with all quantiles on one level it is the joint mechanism.
//
// `quantiles` are ascending and distinct, in [0, 1]. Fills `answers` with a cell of the value grid
// of `cells` cells for each; the answers ascend.
//
// Privacy: that of the plan. Throws what draw_quantile_position and draw_joint_positions throw, and
// std::logic_error if the levels of the plan run out before all quantiles are drawn.
void draw_recursively(const SmearedRank& rank, std::uint64_t cells,
                      std::span<const double> quantiles, const RecursionPlan& plan,
                      const MechanismContext& context, std::span<std::uint32_t> answers);

}  // namespace dpquantile
