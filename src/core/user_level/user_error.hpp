#pragma once

#include <cstdint>
#include <optional>

#include "core/base/workspace.hpp"
#include "core/contributions/contribution_bound.hpp"
#include "core/user_level/user_query.hpp"

namespace dpquantile {

// How accurate a release will be, known before any budget is spent. Computed from public figures
// only; in units of U for a mean, of U^2 for a variance.
struct UserErrorForecast {
  std::uint64_t max_contributions;  // m_UB
  std::uint64_t kept_rows;          // sum of Gamma_l
  // The largest distance, over all data, between the statistic of the kept rows and that of all
  // rows. Absent for the methods that clip array means to a private interval ('levy' and the
  // 'quantile' methods): there the distance has no bound below U.
  std::optional<double> left_out;
  // The expected magnitude of the noise, before the release is clamped to the bounds. An upper
  // bound for the 'quantile' methods (the interval as wide as the bounds), for 'levy' (the interval
  // not cut at a bound) and for 'bounded' (the worst mean and variance, to first order in the
  // noise).
  double noise;
};

// The forecast for user_mean. It depends only on the numbers of rows of the users; without rows it
// is the forecast for empty input. Throws ParameterError (check_user_query), Cancelled,
// std::bad_alloc.
UserErrorForecast forecast_mean_error(const RowsPerUser& counts, const UserQuery& asked,
                                      const Workspace& work);

// The same for user_variance. Throws ParameterError (check_user_variance_query).
UserErrorForecast forecast_variance_error(const RowsPerUser& counts, const UserQuery& query);

}  // namespace dpquantile
