#pragma once

#include <cstdint>

#include "core/base/cancel.hpp"
#include "core/contributions/user_rows.hpp"
#include "core/privacy/mechanism_context.hpp"

// The method 'bounded': mean and variance when a whole user may be added or removed and nothing
// about the users is public. At most `contributions` rows of each user are kept.
//
// The usual way splits epsilon between a sum and a count. Here every row v in [0, 1] is divided
// into parts that add up to 1: (v, 1 - v) for the mean, (v^2, 2 v (1 - v), (1 - v)^2) for the
// variance. One user changes the sums of the parts together by at most `contributions` in the l1
// norm, so each sum gets noise of scale contributions / epsilon with the whole of epsilon. The
// number of rows, the sum and the sum of squares follow from these sums. For the mean this has half
// the variance of a sum about the middle and a count with epsilon / 2 each. Proof: docs/privacy.md,
// Theorem 19.
namespace dpquantile {

inline constexpr unsigned kMeanParts = 2;
inline constexpr unsigned kVarianceParts = 3;

// The sums of the parts over all kept rows, each in units of contributions / kOne rows, rounded
// down.
struct BoundedSums {
  std::uint64_t parts[kVarianceParts];
};

// The l1 sensitivity of `parts` such sums for adding or removing one user: kOne before rounding,
// and rounding adds less than 1 for each sum.
std::uint64_t bounded_sensitivity(unsigned parts);

// How far `parts` such sums move together at most, in the l1 norm, if one row of a user is
// replaced, added or removed, as a multiple of bounded_sensitivity(parts), rounded up: about 2 /
// contributions. Requires contributions >= 1.
double bounded_change_by_row(unsigned parts, std::uint64_t contributions);

// The sums for the mean (the third one is 0) and for the variance. Not private. Throws Cancelled,
// std::bad_alloc.
BoundedSums bounded_mean_sums(const UserRows& rows, std::uint64_t contributions,
                              CancelPoll& cancel);
BoundedSums bounded_variance_sums(const UserRows& rows, std::uint64_t contributions,
                                  CancelPoll& cancel);

// The mean in FixedPoint units, 0 .. kOne, and the population variance in units of U^2 / kOne,
// 0 .. kOne / 4. A noisy number of rows below one counts as one.
//
// Privacy: epsilon-differentially private for adding or removing one user. Requires contributions
// in 1 .. 2^32 - 1 and epsilon in 1e-6 .. 1000. Throws RandomnessUnavailable, Cancelled,
// std::bad_alloc.
std::uint32_t bounded_mean(const UserRows& rows, std::uint64_t contributions, double epsilon,
                           const MechanismContext& context);
std::uint32_t bounded_variance(const UserRows& rows, std::uint64_t contributions, double epsilon,
                               const MechanismContext& context);

}  // namespace dpquantile
