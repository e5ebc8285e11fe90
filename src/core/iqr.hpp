#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>

#include "core/cancel.hpp"
#include "core/log_grid.hpp"
#include "core/noise.hpp"
#include "core/random.hpp"
#include "core/replacement_distance.hpp"

// The differentially private interquartile range by propose-test-release: algorithm S of Dwork and
// Lei 2009, "Differential Privacy and Robust Statistics", on a grid, with a private count of the
// records and one test for all discretisations. Needs no bounds on the data. Statement and proofs:
// docs/privacy.md, "Interquartile range".
namespace dpquantile {

inline constexpr double kMinIqrDelta = 1e-300;
inline constexpr double kMaxIqrDelta = 0.5;

// Throws ParameterError unless kMinIqrDelta <= delta <= kMaxIqrDelta.
void check_iqr_delta(double delta);

// The count of the records gets epsilon / kIqrCountShare. Only its logarithm is used: 64/epsilon
// records more or fewer, where it takes thousands/epsilon for an answer, change that by about a
// hundredth or less; so a larger share would do more harm to the test and the release than it
// helps. With a much smaller one the count of too few records might be taken for almost none, on
// whose wide grid anything is stable.
inline constexpr std::uint64_t kIqrCountShare = 64;

// What the parts of the mechanism spend, exactly; in all never more than epsilon. The test and the
// release each get half of what the count leaves.
struct IqrBudget {
  Rational count;
  Rational test;
  Rational release;
};

// Throws ParameterError (epsilon).
IqrBudget iqr_budget(double epsilon);

// T, in records: the test asks for a noisy distance above 1 + T. The least integer T >= 0 for which
// the test's noise exceeds T with probability at most delta (up to rounding, which can only make it
// larger). Throws ParameterError (epsilon, delta).
std::int64_t iqr_test_margin(double epsilon, double delta);

// The number of records plus discrete Laplace noise of scale 1/epsilon, at least
// LogGrid::kMinCount. Requires epsilon > 2^-56. Privacy: epsilon-differentially private for adding
// or removing one record.
std::uint64_t noisy_count(std::uint64_t records, Rational epsilon, RandomStream& random);

// The answer of interquartile_range on a given grid, for records in ascending order. Privacy:
// differentially private for adding, removing or replacing one record, with delta and what the test
// and the release may spend (docs/privacy.md, Lemma 10). Throws like interquartile_range.
std::optional<double> interquartile_range_on(const LogGrid& grid, const OrderStatistics& records,
                                             double epsilon, double delta, RandomStream& random,
                                             CancelPoll& cancel);

// The interquartile range x_(ceil(3n/4)) - x_(ceil(n/4)) of n records with noise, or nothing if the
// test of its stability fails, which is an ordinary private outcome and almost always the one for a
// few records (fewer than two of which count as an interquartile range of 0). The answer is a
// value(j) of LogGrid(m), m a private count of the records, or exactly 0.
//
// Records are any doubles but NaN. Infinities count as +-DBL_MAX, and an interquartile range above
// DBL_MAX as DBL_MAX. The noise multiplies by (1 + 1/ln m)^z, z a discrete Laplace draw of scale
// 2.04/epsilon on multiples of 1/1024. Changes and sorts `records`; O(n) time, and scratch memory
// of their size.
//
// Privacy: (epsilon, delta)-differentially private for adding, removing or replacing one record
// (Theorem 11). The draws are exact.
//
// Throws ParameterError (epsilon, delta), RandomnessUnavailable, Cancelled, std::bad_alloc; and
// std::overflow_error with a probability below 2^-182 (discrete_laplace).
std::optional<double> interquartile_range(std::span<double> records, double epsilon, double delta,
                                          RandomStream& random, CancelPoll& cancel,
                                          std::pmr::memory_resource* memory);

// How many records it takes for interquartile_range to answer with a probability of at least 19/20,
// whatever the scale of the data, if these are independent draws from a well-behaved density: a
// normal, uniform, Laplace or exponential one, or any other that is no thinner around its
// quartiles. From public parameters alone, so it costs no budget. Throws ParameterError (epsilon,
// delta).
//
// Reasoning. In one of the discretisations ln(IQR) is at least 7/16 w from both ends of its bin, w
// = ln(1 + 1/ln m). So the interquartile range must change by a factor e^(7w/16) for the bin to be
// left. Of the four distributions the exponential one is the thinnest around a quartile: replacing
// t n records moves its upper quartile, at ln 4, by -ln(1 - 4t) and its interquartile range is
// ln 3. So it takes about a = t n records with
//
//   t = (1 - 3^-(e^(7w/16) - 1)) / 4,
//
// and a sample's number of records in a stretch that expects a of them has a standard deviation of
// at most sqrt(a), the test's noise one of at most s = sqrt(2)/(its epsilon). The answer is the
// least n for which the noisy distance is above 1 + T even if it is two standard deviations of the
// sum, sqrt(a + s^2), too small, and the private count m four scales of its noise too large: for a
// normal deviation the probability of the former is 1/44, for a Laplace one 1/34, of the latter
// 1/109. (In simulations of the four distributions nothing was answered in at most 1 of 50 cases,
// however badly the interquartile range lay in its bins.)
std::uint64_t iqr_min_records(double epsilon, double delta);

}  // namespace dpquantile
