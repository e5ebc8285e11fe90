#pragma once

#include <cstdint>
#include <optional>

#include "core/base/workspace.hpp"
#include "core/contributions/contribution_bound.hpp"
#include "core/user_level/user_query.hpp"

namespace dpquantile {

// What a release will cost in accuracy, before any budget is spent. Computed from public figures
// only; in units of U for a mean, of U^2 for a variance.
struct UserErrorForecast {
  std::uint64_t max_contributions;  // m_UB
  std::uint64_t kept_rows;          // sum of Gamma_l
  // The largest distance, over all data, between the statistic of the kept rows and that of all.
  // Absent where values are clipped to a private interval ('levy', 'quantile'): that is not
  // bounded by less than U.
  std::optional<double> clipping;
  // Expected magnitude of the noise, before the release is clamped to the bounds. An upper bound
  // for 'quantile' (the interval as wide as the bounds), for 'levy' (the interval not cut at a
  // bound) and for 'bounded' (the worst mean and variance, to first order in the noise).
  double noise;
};

// The forecast for user_mean. Only the number of rows per user matters; without rows it is that of
// the empty input. Throws ParameterError (check_user_query).
UserErrorForecast forecast_mean_error(const RowsPerUser& counts, const UserQuery& query,
                                      const Workspace& work);

// The same for user_variance. Throws ParameterError (check_user_variance_query).
UserErrorForecast forecast_variance_error(const RowsPerUser& counts, const UserQuery& query);

}  // namespace dpquantile
