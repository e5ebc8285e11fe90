#pragma once

#include <cstdint>
#include <span>

#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/user_level/clipping_interval.hpp"

// The private interval of method 'levy': Levy et al. 2021, "Learning with User-Level Privacy".
namespace dpquantile {

// The half-width tau = U sqrt(ln(2 K / gamma) / (2 m)) in FixedPoint units, rounded up, at most
// kOne, for K arrays of m rows. With probability 1 - gamma = 4/5 the means of K arrays of m
// independent values all lie within tau of their expectation (Hoeffding). The source leaves gamma
// open. Requires K, m >= 1.
std::uint32_t levy_half_width(std::uint64_t arrays, std::uint64_t array_rows);

// How many of the kBudgetParts the interval gets; 0 if it should be all of [lower, upper], which
// costs nothing. A private interval is 4 tau wide, unless a bound cuts it. With a probability of
// up to (bins - 1) exp(-epsilon' arrays / 4) it misses the array means, which are then a third of
// the range off on average; epsilon' is that of the interval. The number of parts is the one with
// the least sum of the noise and of this error:
//
//   4 tau / U * n(rest) + min(1, (bins - 1) exp(-epsilon' arrays / 4)) arrays / 3,
//
// n(rest) the expected_noise() of the rest of the budget. It is 0 if the noise of the whole range,
// n(all), is not larger. This is a function of public figures, as tau is. `privacy` is the budget
// of the whole mean. Requires arrays, half_width >= 1.
unsigned levy_interval_parts(std::uint32_t half_width, std::uint64_t arrays,
                             const PrivacyParameter& privacy);

// A bin of width 2 tau near the median array mean and tau on both sides of it, cut to [0, kOne].
// The exponential mechanism draws the bin, exactly: with probability proportional to
// exp(-epsilon cost / 2). The cost is the number of array means by which the median misses the bin,
// max(0, below - K/2, above - K/2). The caller handles the public case. Requires
// 1 <= half_width <= kOne / 2. O(arrays + bins) time and memory; on average it takes at most as
// many draws as there are bins.
// Privacy: epsilon-bounded-range for replacing one array's sum.
// Throws RandomnessUnavailable, Cancelled, std::bad_alloc.
ClippingInterval draw_levy_interval(std::span<const FilledArray> arrays, std::uint32_t half_width,
                                    double epsilon, const MechanismContext& context);

}  // namespace dpquantile
