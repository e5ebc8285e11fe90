#include "core/user_level/user_error.hpp"

#include <algorithm>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/contributions/best_fit.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "core/user_level/auto_method.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/user_noise.hpp"
#include "core/user_level/user_variance.hpp"
#include "core/user_level/window_interval.hpp"

namespace dpquantile {

namespace {

// Empty input gets the noise of a single row (mean) or the largest noise (variance).
constexpr double kEmptyMeanSensitivity = 1;
constexpr double kEmptyVarianceSensitivity = 0.25;

// The number of rows of each array of BestFit.
std::pmr::vector<std::uint64_t> array_fills(const RowsPerUser& counts, std::uint64_t bound,
                                            const Workspace& work) {
  std::pmr::vector<std::uint64_t> rows(work.memory);
  rows.reserve(as_size(counts.users()));
  for (const UsersWithRows& run : counts.runs()) {
    rows.insert(rows.end(), static_cast<std::size_t>(run.users), std::min(run.rows, bound));
  }
  return best_fit(rows, bound, work).fills;
}

// The noise of a mean of clipped arrays, in units of U.
double clipped_noise(const RowsPerUser& counts, const UserQuery& query, std::uint64_t bound,
                     const Workspace& work) {
  const std::pmr::vector<std::uint64_t> fills = array_fills(counts, bound, work);
  const std::uint64_t fullest = *std::max_element(fills.begin(), fills.end());
  const double share = mean_sensitivity_fraction(counts.kept(bound), fullest);
  const PrivacyParameter& budget = query.privacy;
  double width = 1;
  unsigned spent = 0;
  if (query.method == UserMethod::kLevy) {
    const std::uint32_t half_width = levy_half_width(fills.size(), bound);
    spent = levy_interval_parts(half_width, fills.size(), budget);
    if (spent != 0) width = 4.0 * half_width / FixedPoint::kOne;
  } else {
    spent = plan_windows(fills.size(), clipped_target(query.method, budget), budget).parts;
  }
  return expected_magnitude(width * share, share_of(budget, kBudgetParts - spent));
}

double mean_noise(const RowsPerUser& counts, const UserQuery& query, std::uint64_t bound,
                  const Workspace& work) {
  if (clips_array_means(query.method)) return clipped_noise(counts, query, bound, work);
  const double share = mean_sensitivity_fraction(counts.kept(bound), bound);
  return query.method == UserMethod::kBounded ? share * expected_noise(query.privacy)
                                              : expected_magnitude(share, query.privacy);
}

double variance_noise(const RowsPerUser& counts, const UserQuery& query, std::uint64_t bound) {
  const std::uint64_t kept = counts.kept(bound);
  // To first order the coefficients of the three noises of 'bounded' have magnitudes that add up to
  // at most 1, and so have their squares.
  return query.method == UserMethod::kBounded
             ? mean_sensitivity_fraction(kept, bound) * expected_noise(query.privacy)
             : expected_magnitude(variance_sensitivity_fraction(kept, bound), query.privacy);
}

}  // namespace

UserErrorForecast forecast_mean_error(const RowsPerUser& counts, const UserQuery& asked,
                                      const Workspace& work) {
  check_user_query(asked);
  const UserQuery query = chosen_mean_query(asked, counts);
  const std::uint64_t bound = mean_contribution_bound(query, counts);
  if (counts.rows() == 0)
    return {bound, 0, 0, kEmptyMeanSensitivity * expected_noise(query.privacy)};
  const std::uint64_t kept = counts.kept(bound);
  UserErrorForecast forecast{bound, kept, mean_left_out_error(counts.rows(), kept),
                             mean_noise(counts, query, bound, work)};
  if (clips_array_means(query.method)) forecast.left_out.reset();
  return forecast;
}

UserErrorForecast forecast_variance_error(const RowsPerUser& counts, const UserQuery& query) {
  check_user_variance_query(query);
  const std::uint64_t bound = variance_contribution_bound(query, counts);
  if (counts.rows() == 0)
    return {bound, 0, 0, kEmptyVarianceSensitivity * expected_noise(query.privacy)};
  const std::uint64_t kept = counts.kept(bound);
  return {bound, kept, variance_left_out_error(counts.rows(), kept),
          variance_noise(counts, query, bound)};
}

}  // namespace dpquantile
