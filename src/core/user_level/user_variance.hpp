#pragma once

#include <cstdint>

#include "core/contributions/contribution_bound.hpp"
#include "core/contributions/user_rows.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/user_level/user_query.hpp"

// User-level population variances. Source: Rameshwar et al. 2024b, "Improving the Privacy Loss
// Under User-Level DP Composition for Fixed Estimation Error" (arXiv:2405.06261). Statement and
// proofs: docs/privacy.md, "User-level means and variances".
//
// The methods 'baseline', 'array' and 'bounded' are those of user_query.hpp. The others do not
// apply: a variance is not a mean of array variances. These leave out the differences between the
// arrays, so clipping them would estimate something else.
namespace dpquantile {

// Throws ParameterError as check_user_query does, and for the methods that do not apply.
void check_user_variance_query(const UserQuery& query);

// The m_UB that the query uses for the variance; like mean_contribution_bound.
std::uint64_t variance_contribution_bound(const UserQuery& query, const RowsPerUser& counts);

// The population variance of the values, in units of U^2 / kOne, 0 .. kOne / 4
// (FixedPoint::variance_of). `rows` must be grouped by Contribution::kUser.
//
// Privacy: epsilon-differentially private or rho-zCDP, for the neighbours of user_mean.
//
// With the methods 'baseline' and 'array' a single row has variance 0 for any value and needs no
// noise, and without any rows the answer is kOne / 8 with the largest noise of any input.
//
// Throws ParameterError (check_user_variance_query), RandomnessUnavailable, Cancelled,
// std::bad_alloc.
std::uint32_t user_variance(const UserRows& rows, const UserQuery& query,
                            const MechanismContext& context);

// The variance of values with these moments, in units of U^2 / kOne, rounded down, and its
// sensitivity if at most `most` of the values are of one user. Not private: for user_grid_stats and
// for proofs by exhaustion in tests.
IntegerQuery variance_query(const RowMoments& kept, std::uint64_t most);

}  // namespace dpquantile
