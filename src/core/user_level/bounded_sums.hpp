#pragma once

#include <cstdint>

#include "core/base/cancel.hpp"
#include "core/contributions/user_rows.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"

// The method 'bounded': mean and variance when a whole user may be added or removed and nothing
// about the users is public. At most `contributions` rows of each user are kept.
//
// The usual way splits epsilon between a sum and a count. Here every row v in [0, 1] is divided
// into parts that are at least 0 and add up to 1: (v, 1 - v) for the mean, (v^2, 2 v (1 - v),
// (1 - v)^2) for the variance. One user changes the sums of the parts together by at most
// `contributions`, in the l1 norm and so in the l2 norm, and each sum gets the noise of the whole
// guarantee. The number of rows, the sum and the sum of squares follow from these sums. For the
// mean this has half the variance of a sum about the middle and a count with epsilon / 2 each.
// Proof: docs/privacy.md, Theorem 19.
namespace dpquantile {

inline constexpr unsigned kMeanParts = 2;
inline constexpr unsigned kVarianceParts = 3;

// How the sums are measured: a function of their number, of max_contributions and the guarantee.
struct BoundedUnits {
  unsigned parts;
  std::uint64_t contributions;
  int bits;  // a unit is contributions * 2^-bits rows
  // How far the rounded sums move together at most for adding or removing one user: the l1 norm
  // under epsilon, the l2 norm under rho. 2^bits before rounding; rounding adds less than 1 for
  // each sum, or less than 2 in the l2 norm.
  std::uint64_t sensitivity;
  // The same if one row of a user is replaced, added or removed, as a multiple of `sensitivity`,
  // rounded up: about 2 / contributions under epsilon, sqrt(2) / contributions under rho.
  double change_by_row;
};

// Requires kMeanParts or kVarianceParts parts and contributions in 1 .. 2^32 - 1.
BoundedUnits bounded_units(unsigned parts, std::uint64_t contributions,
                           const PrivacyParameter& privacy);

// The sums of the parts over all kept rows, in units, rounded down.
struct BoundedSums {
  std::uint64_t parts[kVarianceParts];
};

// The sums for the mean (the third one is 0) or for the variance, by the number of parts. Not
// private. Throws Cancelled, std::bad_alloc.
BoundedSums bounded_sums(const UserRows& rows, const BoundedUnits& units, CancelPoll& cancel);

// The mean in FixedPoint units, 0 .. kOne, and the population variance in units of U^2 / kOne,
// 0 .. kOne / 4. A noisy number of rows below one counts as one.
//
// Privacy: epsilon-differentially private, or rho-zCDP, for adding or removing one user. Requires
// contributions in 1 .. 2^32 - 1. Throws ParameterError (check_privacy_parameter),
// RandomnessUnavailable, Cancelled, std::bad_alloc.
std::uint32_t bounded_mean(const UserRows& rows, std::uint64_t contributions,
                           const PrivacyParameter& privacy, const MechanismContext& context);
std::uint32_t bounded_variance(const UserRows& rows, std::uint64_t contributions,
                               const PrivacyParameter& privacy, const MechanismContext& context);

}  // namespace dpquantile
