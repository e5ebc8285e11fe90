#pragma once

#include "core/exponential/rank.hpp"
#include "core/privacy/mechanism.hpp"

namespace dpquantile {

// A half-open, non-empty range of positions.
struct PositionInterval {
  Position begin;
  Position end;
};

// The lambda of draw_quantile_position() for one quantile, per record of rank.
double rank_lambda(double q, double epsilon);

// The least epsilon of a draw. With less the rounding of the weights would cost more than the
// factor 1 - 2^-16 pays for (docs/privacy.md, "Floating point").
inline constexpr double kMinDrawEpsilon = 0x1p-24;

// Draws leave out positions with a total probability below 2^-kTailBits; draws of several quantiles
// count the lattice points that they leave out, too.
inline constexpr double kTailBits = 72;

// The exponential mechanism for one quantile q in [0, 1] of the records' mass inside an interval.
// Draws a position p of the interval with probability proportional to
//
//   exp(-lambda |R(p) - R(begin) - q n|),  n = R(end) - R(begin),
//   lambda = epsilon (1 - 2^-16) / (2 max(q, 1 - q)),
//
// where q n is rounded down to a multiple of 2^-24 records. Throws std::invalid_argument if
// epsilon is below kMinDrawEpsilon. Throws RandomnessUnavailable and Cancelled.
//
// Privacy: (w epsilon)-bounded-range for adding or removing one record of which the part w <= 1
// lies inside the interval (docs/privacy.md, Lemma 2). The factor 1 - 2^-16 pays for all rounding
// of ranks and weights (docs/privacy.md, "Floating point").
Position draw_quantile_position(const SmearedRank& rank, PositionInterval interval, double q,
                                double epsilon, const MechanismContext& context);

}  // namespace dpquantile
