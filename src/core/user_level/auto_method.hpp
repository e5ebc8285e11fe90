#pragma once

#include "core/contributions/contribution_bound.hpp"
#include "core/user_level/user_query.hpp"

// The method 'auto' of means: 'array' or 'quantile', and m_UB, whichever is never far from the
// least error to expect under two public models of the data.
namespace dpquantile {

// The query with kArray or kQuantile in place of kAuto, and with a fixed m_UB; without rows kArray.
// Other queries stay as they are. m_UB is a power of two, the most rows of a user, or what the
// rules of the other methods give, the median and array_concentration_bound(), unless the query
// states it. Throws nothing. O(number of distinct m_l) time for each m_UB.
//
// The models, in units of U: values have a standard deviation w = 1/6 within a user, and the users'
// means one of o = 0 or of o = 1/12. With N of M rows kept, Gamma_l of the m_l rows of user l, they
// give
//
//   error^2 = (2 / pi) left_out + clipped^2,
//   left_out = o^2 sum (Gamma_l / N - m_l / M)^2 + w^2 (1/N - 1/M),
//   clipped of 'array' = m n / N,
//   clipped of 'quantile' = expected_window_error() of A arrays with spread s, noise m n' / N,
//   s^2 = w^2 / m + o^2 sum Gamma_l^2 / (A m^2),   A = N / m,
//
// with the plan and the rest of the budget from plan_windows(): n and n' are the expected_noise()
// of the budget and of the rest, s is the standard deviation of the means of A full arrays. The
// choice has the least regret: its error divided by the least error of all choices, in the model
// where this is larger. Whether users differ is not public, and a choice for one model alone has
// several times the least error of the other. Data that are unlike both get a worse choice, never
// less privacy: the choice depends on m_l and the guarantee only.
UserQuery chosen_mean_query(const UserQuery& query, const RowsPerUser& counts);

}  // namespace dpquantile
