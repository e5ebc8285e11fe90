#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/rank.hpp"
#include "core/privacy/mechanism.hpp"

namespace dpquantile {

// The largest number of quantiles in a joint draw. A draw takes tens of microseconds for up to 4
// quantiles (small_joint_mechanism.hpp), about 1 ms for 9, 3 ms for 16, 0.2 s for 32 and 4 s for
// 128, in bad cases three times as long, and at most about 100 MB of memory.
inline constexpr std::size_t kMaxJointQuantiles = 128;

// The largest number of records in a joint draw. Ranks of this many records are exact as doubles.
inline constexpr std::uint64_t kMaxJointRecords = (std::uint64_t{1} << 29) - 1;

// The least epsilon of a joint draw of so many quantiles. With less the rounding of the weights
// would cost more than the factor 1 - 2^-10 of lambda pays for (docs/privacy.md, "Floating point").
double min_joint_epsilon(std::size_t quantiles);

// The lambda of draw_joint_positions(), per record.
double joint_lambda(double epsilon);

// The exponential mechanism for several quantiles at once: JointExp of Gillenwater, Joseph and
// Kulesza 2021 with the utility of least sensitivity. Let q_1 .. q_b be ascending, distinct
// quantiles in [0, 1], q_0 = 0, q_{b+1} = 1, p_0 = begin and p_{b+1} = end. The mechanism draws
// positions p_1 <= .. <= p_b of the interval with probability proportional to
//
//   exp(-lambda F(p)),   lambda = min(epsilon (1 - 2^-10) / 2, 8),
//   F(p) = min over s of sum over k of |R(p_{k+1}) - R(p_k) - (q_{k+1} - q_k) s|,
//
// for s on a lattice that depends on epsilon and b only. s stands for the number of records, which
// need not be known. (JointExp has s = n, and twice the sensitivity.) The base measure is that of b
// independent uniform positions, sorted.
//
// Fills `positions` in ascending order; it has as many elements as `quantiles`. Throws
// std::invalid_argument unless there are 1 .. kMaxJointQuantiles quantiles and epsilon is at least
// min_joint_epsilon() of their number. Throws
// std::length_error above kMaxJointRecords records, and std::logic_error, before anything is drawn,
// if no type of numbers holds the weights, which no data are known to need. Throws
// RandomnessUnavailable and Cancelled.
//
// Privacy: (w epsilon)-bounded-range for adding or removing one record of which the part w <= 1
// lies inside the interval (docs/privacy.md, "Several quantiles at once"). The law is exact up to
// what "Floating point" there states. Time and memory depend on the data, but in no steps ("Time of
// a joint draw" there).
void draw_joint_positions(const SmearedRank& rank, PositionInterval interval,
                          std::span<const double> quantiles, double epsilon,
                          const MechanismContext& context, std::span<Position> positions);

// For forecasts, with data that nobody has: draws by the same law, at least `least` of them, all
// from one preparation. Returns the positions of one draw after the other. This takes a fraction of
// the time, as many proposals are accepted together. Throws as draw_joint_positions().
//
// Privacy: none is claimed for several draws.
std::pmr::vector<Position> simulate_joint_positions(const SmearedRank& rank,
                                                    PositionInterval interval,
                                                    std::span<const double> quantiles,
                                                    double epsilon, std::size_t least,
                                                    const MechanismContext& context);

}  // namespace dpquantile
