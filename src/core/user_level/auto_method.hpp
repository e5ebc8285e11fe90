#pragma once

#include "core/contributions/contribution_bound.hpp"
#include "core/user_level/user_query.hpp"

// The method 'auto' of means: 'array' or 'quantile', and m_UB, whichever has the least error to
// expect under a public model of the data.
namespace dpquantile {

// The query with kArray or kQuantile in place of kAuto, and with a fixed m_UB; without rows kArray.
// Other queries stay as they are. m_UB is a power of two, the most rows of a user or the median,
// unless the query states it. Throws nothing. O(number of distinct m_l) time.
//
// The model: values have a standard deviation w = U/6 within a user, and the users' means one of
// o = U/12. With N of M rows kept, Gamma_l of the m_l rows of user l, it gives
//
//   error^2 = (2 / pi) left_out + noise^2,
//   left_out = o^2 sum (Gamma_l / N - m_l / M)^2 + w^2 (1/N - 1/M),
//   noise of 'array' = U m n / N,
//   noise of 'quantile' = min(U, max(7 s, 2^-J U)) m n' / N,
//   s^2 = w^2 / m + o^2 sum Gamma_l^2 / (A m^2),   A = N / m,
//
// with J and the rest of the budget from plan_windows(): n and n' are the expected_noise() of the
// budget and of the rest, s is the standard deviation of the means of A full arrays, and 7 s the
// width of the private interval. Data that are unlike the model get a worse choice, never less
// privacy: the choice depends on m_l and the guarantee only.
UserQuery chosen_mean_query(const UserQuery& query, const RowsPerUser& counts);

}  // namespace dpquantile
