#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/cancel.hpp"
#include "core/base/workspace.hpp"
#include "core/contributions/user_rows.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/user_level/clipping_interval.hpp"
#include "core/user_level/user_query.hpp"

// User-level means, which protect all values of a user together. Source: Rameshwar et al. 2024a
// (arXiv:2401.15906). Statement and proofs: docs/privacy.md, "User-level means and variances".
namespace dpquantile {

// The mean of the values, in FixedPoint units, 0 .. kOne. `rows` must be grouped by
// Contribution::kUser.
//
// Privacy: epsilon-differentially private, or rho-zCDP. All methods except 'bounded': for replacing
// the values of one user, while the users and their numbers of rows m_l are public. 'bounded': for
// adding or removing one user with all rows.
//
// Without any rows the answer is the middle of the range with the noise of a single row ('bounded':
// the mean that its noisy sums give). One user or one row is ordinary input. The mechanism is
// chosen by public figures only.
//
// Throws ParameterError (check_user_query), RandomnessUnavailable, Cancelled, std::bad_alloc.
std::uint32_t user_mean(const UserRows& rows, const UserQuery& asked,
                        const MechanismContext& context);

// --- The parts, for proofs by exhaustion in tests. Not private. ----------------------------------

// The mean of at most `bound` rows of each user, rounded down, and its sensitivity. Without rows:
// the middle of the range and the sensitivity of a single row.
IntegerQuery kept_mean(const UserRows& rows, std::uint64_t bound, CancelPoll& cancel);

// The arrays of BestFit with at most `bound` rows of each user. Requires at least one row and
// bound >= 1.
std::pmr::vector<FilledArray> fill_arrays(const UserRows& rows, std::uint64_t bound,
                                          const Workspace& work);

// The mean of the array means, each clipped to the interval and weighted by the array's rows,
// rounded down, and its sensitivity for replacing one array's sum: the width of the interval times
// the rows of the fullest array, divided by the number of all rows. Clipping compares a sum with
// low * rows and high * rows, which are integers. Requires at least one array.
IntegerQuery clipped_mean(std::span<const FilledArray> arrays, ClippingInterval interval);

}  // namespace dpquantile
