#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/iqr/distance_to_instability.hpp"
#include "core/iqr/iqr_plan.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/random.hpp"

// The differentially private interquartile range by propose-test-release: algorithm S of Dwork and
// Lei 2009, "Differential Privacy and Robust Statistics", on a grid, with a private count of the
// records, one test for all discretisations, and a finer scale if there are enough records for it.
// Needs no bounds on the data. Statement and proofs: docs/privacy.md, "Interquartile range".
namespace dpquantile {

// The number of records plus discrete Laplace noise of scale 1/epsilon, at least
// LogGrid::kMinCount. Requires epsilon > 2^-56. Privacy: epsilon-differentially private for adding
// or removing one record. Throws like discrete_laplace.
std::uint64_t noisy_count(std::uint64_t records, Rational epsilon, RandomStream& random);

// The answer of interquartile_range on given stages, for records in ascending order. Privacy:
// differentially private for adding, removing or replacing one record (docs/privacy.md, Lemma 10).
// Throws like interquartile_range.
std::optional<double> interquartile_range_by(std::span<const IqrStage> stages,
                                             const OrderStatistics& records,
                                             const MechanismContext& context);

// The interquartile range x_(ceil(3n/4)) - x_(ceil(n/4)) of n records with noise, or nothing if the
// test of its stability fails. That is an ordinary private outcome, and almost always the outcome
// for a few records. Fewer than two records count as an interquartile range of 0. The answer is a
// value(j) of a grid of IqrPlan(m), where m is a private count of the records, or exactly 0.
//
// Records are any doubles except NaN. Infinities count as +-DBL_MAX, and an interquartile range
// above DBL_MAX as DBL_MAX. The noise multiplies by exp(unit z), where z is a discrete Laplace draw
// on multiples of 1/1024 with a scale of one over what the release may spend. Changes and sorts
// `records`. O(n) time; scratch memory of their size.
//
// Privacy: (epsilon, delta)-differentially private for adding, removing or replacing one record
// (Theorem 11). The draws are exact.
//
// Throws ParameterError (epsilon, delta), RandomnessUnavailable, Cancelled, std::bad_alloc; and
// std::overflow_error with a probability below 2^-182 (discrete_laplace).
std::optional<double> interquartile_range(std::span<double> records, double epsilon, double delta,
                                          const MechanismContext& context);

}  // namespace dpquantile
