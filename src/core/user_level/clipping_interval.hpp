#pragma once

#include <cstdint>
#include <span>

#include "core/privacy/mechanism_context.hpp"

// Private intervals that hold most array means. The mechanisms 'levy' and 'quantile' clip the array
// means to them. Neighbours replace one array's sum; the number of arrays and their fills are
// public.
//
// The quantile mechanism (exponential_mechanism.hpp) is proved for adding or removing a record.
// Replacing one costs at most 1 / max(q, 1 - q) times as much, between 1 and 2 times
// (docs/privacy.md, Lemma 17). The epsilons here are what is charged for replacing.
namespace dpquantile {

// An array of BestFit: its number of rows (at least 1, public) and the sum of their values in
// FixedPoint units.
struct FilledArray {
  std::uint64_t rows;
  std::uint64_t sum;
};

// A closed interval in FixedPoint units, 0 <= low <= high <= kOne.
struct ClippingInterval {
  std::uint32_t low;
  std::uint32_t high;
};

// A method with a private interval splits its epsilon into two equal parts: one for the interval,
// one for the mean of what is clipped to it.
inline constexpr std::uint64_t kPartsWithInterval = 2;

// The half-width tau = U sqrt(ln(2 K / gamma) / (2 m)) in FixedPoint units, rounded up, at most
// kOne, for K arrays of m rows. With probability 1 - gamma = 4/5 the means of K arrays of m
// independent values all lie within tau of their expectation (Hoeffding). The source leaves gamma
// open. Requires K, m >= 1.
std::uint32_t levy_half_width(std::uint64_t arrays, std::uint64_t array_rows);

// Whether the interval should be all of [lower, upper], which costs nothing. A private interval is
// 4 tau wide, unless a bound cuts it, and leaves epsilon / 2 for the noise. With a probability of
// up to (bins - 1) exp(-epsilon arrays / 8) it misses the array means, which are then a third of
// the range off on average. So the interval is private only if
//
//   8 tau / U + min(1, (bins - 1) exp(-epsilon arrays / 8)) epsilon arrays / 3 < 1,
//
// in units of the noise of the whole range. `epsilon` is that of the whole mean. This is a function
// of public figures, as tau is. Requires arrays, half_width >= 1.
bool levy_interval_is_public(std::uint32_t half_width, std::uint64_t arrays, double epsilon);

// The interval of Levy et al. 2021 ("Learning with User-Level Privacy"): a bin of width 2 tau near
// the median array mean and tau on both sides of it, cut to [0, kOne]. The exponential mechanism
// draws the bin, exactly: with probability proportional to exp(-epsilon cost / 2). The cost is the
// number of array means by which the median misses the bin, max(0, below - K/2, above - K/2). The
// caller handles the public case. Requires 1 <= half_width <= kOne / 2. O(arrays + bins) time and
// memory; on average it takes at most as many draws as there are bins.
// Privacy: epsilon-differentially private for replacing one array's sum.
// Throws RandomnessUnavailable, Cancelled, std::bad_alloc.
ClippingInterval draw_levy_interval(std::span<const FilledArray> arrays, std::uint32_t half_width,
                                    double epsilon, const MechanismContext& context);

// The interval between the `tail` and the 1 - tail quantile of the array means (Smith 2011), on
// 2^16 cells; 0 <= tail <= 1/2.
// Privacy: epsilon-differentially private for replacing one array's sum; epsilon / 2 for each
// quantile.
// Throws RandomnessUnavailable, Cancelled, std::bad_alloc.
ClippingInterval draw_quantile_interval(std::span<const FilledArray> arrays, double tail,
                                        double epsilon, const MechanismContext& context);

}  // namespace dpquantile
