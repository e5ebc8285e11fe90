#pragma once

#include <cstddef>
#include <span>

#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/rank.hpp"
#include "core/privacy/mechanism.hpp"

namespace dpquantile {

// The largest number of quantiles in a small joint draw.
inline constexpr std::size_t kMostSmallJoint = 4;

// draw_joint_positions() (joint_mechanism.hpp) for few quantiles, in microseconds: the same law for
// this lambda. Draws by rejection from slots that are cut and weighed once. Proposals need not
// ascend; those that do not are refused, which is cheap for few quantiles only.
//
// Requires 1 .. kMostSmallJoint quantiles. Returns false, with nothing drawn, if the data need
// numbers wider than doubles: never if lambda times SmearedRank::most_at_position() is at most 4.
// Throws RandomnessUnavailable and Cancelled.
//
// Privacy: that of draw_joint_positions() (docs/privacy.md, Lemma 3; "Floating point"; "Time of a
// joint draw").
bool draw_small_joint_positions(const SmearedRank& rank, PositionInterval interval,
                                std::span<const double> quantiles, double lambda,
                                const MechanismContext& context, std::span<Position> positions);

}  // namespace dpquantile
