#pragma once

#include <cstdint>
#include <span>

#include "core/exponential/rank.hpp"
#include "core/privacy/mechanism_context.hpp"
#include "core/quantiles/recursion_plan.hpp"

namespace dpquantile {

// Draws quantiles level by level: those of a level cut the axis at the positions drawn, and with it
// the records' mass, and what lies between two cuts is a data set of its own for the levels below.
// With one quantile a level it is ApproximateQuantiles (AQ) of Kaplan, Schnapp and Stemmer 2022,
// Algorithm 1; with all of them on one level, the joint mechanism.
//
// Fills `answers` with a cell of the grid of `cells` cells for each of the ascending, distinct
// quantiles in [0, 1]; the answers ascend. The plan must have levels for all of them.
//
// Privacy: that of the plan. Throws like draw_quantile_position and draw_joint_positions.
void draw_recursively(const SmearedRank& rank, std::uint64_t cells,
                      std::span<const double> quantiles, const RecursionPlan& plan,
                      const MechanismContext& context, std::span<std::uint32_t> answers);

}  // namespace dpquantile
