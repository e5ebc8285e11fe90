#include "pg/parameters/expected_error.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/moments/moments_error.hpp"
#include "core/privacy/noise_error.hpp"
#include "core/quantiles/quantiles_error.hpp"
#include "core/selection/group_selection.hpp"
#include "pg/parameters/cdf_error_cache.hpp"
#include "pg/parameters/cdf_plan_cache.hpp"

namespace dpquantile {

namespace {

constexpr double kMicrosecondsPerSecond = 1e6;
constexpr double kConfidence = 0.95;

// That of noise for a sensitivity of 1.
double spread_of_noise(const AggregateParameters* parameters) {
  return parameters->measure == PrivacyMeasure::kPure ? 1 / parameters->guarantee
                                                      : 1 / std::sqrt(2 * parameters->guarantee);
}

ExpectedError in_rows(double amount) {
  return {amount, "rows"};
}

// Numbers of times are microseconds, those of dates are days.
ExpectedError in_values(const AggregateParameters* parameters, double amount) {
  if (parameters->value_type == ValueType::kDate) return {amount, "days"};
  if (is_temporal(parameters->value_type)) return {amount / kMicrosecondsPerSecond, "seconds"};
  return {amount, "the values"};
}

ExpectedError in_squares(const AggregateParameters* parameters, double amount) {
  ExpectedError error = in_values(parameters, std::sqrt(amount));
  error.amount *= error.amount;
  error.unit = parameters->value_type == ValueType::kDate ? "days squared"
               : is_temporal(parameters->value_type)      ? "seconds squared"
                                                          : "the values squared";
  return error;
}

ExpectedError error_of_sum(const AggregateParameters* parameters) {
  const double sensitivity = std::max(std::abs(parameters->lower), std::abs(parameters->upper));
  const double spreads[] = {sensitivity * spread_of_noise(parameters)};
  return in_values(parameters, mean_noise(parameters->measure, spreads));
}

// That of the mean for dp_stats, whose composite has all its errors.
ExpectedError error_of_moments(const AggregateParameters* parameters, std::string_view function,
                               double rows) {
  const bool is_mean = parameters->family == Family::kMean;
  const MomentsError error =
      moments_expected_error(rows, is_mean ? MomentsDegree::kMean : MomentsDegree::kVariance,
                             privacy_of(parameters), parameters->lower, parameters->upper);
  if (is_mean) return in_values(parameters, error.mean);
  if (function == "dp_stats")
    return ExpectedError{in_values(parameters, error.mean).amount, "the mean"};
  const bool is_of_all = function.ends_with("_pop");
  return function.starts_with("dp_stddev")
             ? in_values(parameters, is_of_all ? *error.stddev : *error.sample_stddev)
             : in_squares(parameters, is_of_all ? *error.variance : *error.sample_variance);
}

ExpectedError on_worst_data(ExpectedError error) {
  error.at_most = true;
  return error;
}

ExpectedError error_of_quantiles(const AggregateParameters* parameters, Method method, double rows,
                                 const Workspace& work) {
  QuantilesQuery query = quantiles_query_of(parameters);
  query.method = static_cast<QuantilesMethod>(method);
  double largest = 0;
  for (const QuantileError& error :
       forecast_quantiles_error(query, static_cast<std::uint64_t>(rows), work)) {
    largest = std::max(largest, error.mean);
  }
  return {largest, "ranks"};
}

ExpectedError error_of_cdf(const AggregateParameters* parameters, Method method,
                           const Workspace& work) {
  const CdfPlan plan =
      session_cdf_plan(static_cast<CdfMethod>(method), parameters->bins, privacy_of(parameters));
  return in_rows(session_cdf_error(plan, kConfidence, work).everywhere);
}

// A group of fewer rows (or users) may be hidden.
ExpectedError rows_to_be_shown(const AggregateParameters* parameters) {
  const auto groups = std::max<std::uint64_t>(parameters->max_contributions, 1);
  const GroupSelection selection(parameters->guarantee, parameters->delta, groups);
  const auto rows = static_cast<double>(selection.rows_always_kept());
  return {rows, parameters->family == Family::kKeepGroup
                    ? "rows that a group needs to be shown"
                    : "persons that a group needs to be shown"};
}

std::optional<ExpectedError> error_in(const AggregateParameters* parameters, Method method,
                                      const char* function, double rows, const Workspace& work) {
  switch (parameters->family) {
    case Family::kCount:
    case Family::kValueCount:
    case Family::kDistinct:
    case Family::kHistogram:
      return in_rows(mean_integer_noise(parameters->measure, spread_of_noise(parameters)));
    case Family::kSum:
      return error_of_sum(parameters);
    case Family::kMean:
    case Family::kMoments:
      return on_worst_data(error_of_moments(parameters, function, rows));
    case Family::kQuantiles:
      return error_of_quantiles(parameters, method, rows, work);
    case Family::kCdf:
      return error_of_cdf(parameters, method, work);
    case Family::kIqr:
    case Family::kUserMean:
    case Family::kUserVariance:
    case Family::kUserGrids:
    case Family::kSynthesis:
      break;
    case Family::kKeepGroup:
    case Family::kKeepUserGroup:
      return rows_to_be_shown(parameters);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ExpectedError> expected_error(const AggregateParameters* parameters, Method method,
                                            const char* function, double rows) {
  std::optional<ExpectedError> error;
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    error = error_in(parameters, method, function, rows, {cancel, &memory});
  });
  return error;
}

}  // namespace dpquantile
