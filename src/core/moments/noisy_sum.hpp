#pragma once

#include "core/moments/moments.hpp"
#include "core/moments/value_sums.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// How far the sum moves at most if the value of one row is replaced, appears or disappears, as a
// multiple of its sensitivity: from 1 to 2, 1 if the bounds have one sign. Computed exactly from
// the units that release_sum() counts in. Throws ParameterError where release_sum() would refuse
// rho.
double largest_change_of_sum(const SumScale& scale, const PrivacyParameter& privacy);

// The sum alone of values clamped to the bounds. One row changes it by at most
// max(|lower|, |upper|), so its noise has at most the variance of the sum by Moments of degree 1,
// which is that of two noises, of scale |lower| / epsilon and |upper| / epsilon. The noise may give
// a sum a sign that the bounds exclude. It stays, because people add sums up: cut off at 0, those
// of small groups would be too large on average. A sum beyond the range of doubles becomes the
// largest double.
//
// The error leaves out that every value is rounded to units of max(|lower|, |upper|) / 2^32: a row
// adds at most half a unit.
//
// Privacy: epsilon-differentially private or rho-zCDP, by the measure, for adding or removing one
// row (docs/privacy.md, "Moments"). `values` has shifted_units() of the scale, of at most 2^63
// rows.
//
// Throws ParameterError as check_privacy_parameter() does, RandomnessUnavailable, and
// std::overflow_error as the samplers do.
Estimate release_sum(const ValueSums& values, const SumScale& scale,
                     const PrivacyParameter& privacy, RandomStream& random);

}  // namespace dpquantile
