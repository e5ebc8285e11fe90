#include "pg/parameters/expected_error.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/moments/moments_error.hpp"
#include "core/moments/pair_moments.hpp"
#include "core/noisy_histogram/learned_bounds.hpp"
#include "core/privacy/noise_error.hpp"
#include "core/quantiles/quantiles_error.hpp"
#include "core/quantiles/quantiles_error_bound.hpp"
#include "core/selection/group_selection.hpp"
#include "pg/parameters/cdf_error_cache.hpp"
#include "pg/parameters/cdf_plan_cache.hpp"
#include "pg/server/boundary.hpp"

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

ExpectedError on_worst_data(ExpectedError error) {
  error.at_most = true;
  return error;
}

MomentsError moments_error(const ForecastCall& call, MomentsDegree degree) {
  return moments_expected_error(call.rows, degree, privacy_of(call.parameters),
                                call.parameters->lower, call.parameters->upper);
}

}  // namespace

ExpectedError error_of_number(const ForecastCall& call) {
  return in_rows(mean_integer_noise(call.parameters->measure, spread_of_noise(call.parameters)));
}

ExpectedError error_of_bounds(const ForecastCall& call) {
  const CountNoise noise{call.parameters->measure, spread_of_noise(call.parameters)};
  return on_worst_data({std::ceil(noise_in_block(kWidestBlock, kFarLevel, noise)),
                        "rows of 64 cells outside each bound"});
}

// The mean of k bins is at most that of the exponential mechanism: (ln k) / epsilon.
ExpectedError error_of_modal_bin(const ForecastCall& call) {
  const AggregateParameters* parameters = call.parameters;
  return on_worst_data({std::log(parameters->bins) * spread_of_noise(parameters),
                        "rows fewer than the fullest bin has"});
}

ExpectedError error_of_sum(const ForecastCall& call) {
  const AggregateParameters* parameters = call.parameters;
  const double sensitivity = std::max(std::abs(parameters->lower), std::abs(parameters->upper));
  const double spreads[] = {sensitivity * spread_of_noise(parameters)};
  return in_values(parameters, mean_noise(parameters->measure, spreads));
}

ExpectedError error_of_mean(const ForecastCall& call) {
  return on_worst_data(in_values(call.parameters, moments_error(call, MomentsDegree::kMean).mean));
}

// That of the mean for dp_stats, beside those of its other fields.
ExpectedError error_of_moments(const ForecastCall& call) {
  const AggregateParameters* parameters = call.parameters;
  const MomentsError error = moments_error(call, MomentsDegree::kVariance);
  if (call.function == "dp_stats") {
    return {error.mean, "the mean", true,
            FieldErrors{error.count, error.sum, *error.sample_variance, *error.sample_stddev}};
  }
  const bool is_of_all = call.function.ends_with("_pop");
  return on_worst_data(
      call.function.starts_with("dp_stddev")
          ? in_values(parameters, is_of_all ? *error.stddev : *error.sample_stddev)
          : in_squares(parameters, is_of_all ? *error.variance : *error.sample_variance));
}

ExpectedError error_of_covariance(const ForecastCall& call) {
  const CovarianceError error =
      covariance_expected_error(call.rows, privacy_of(call.parameters),
                                fixed_point_of(call.parameters), fixed_point_of_x(call.parameters));
  const bool is_of_all = call.function.ends_with("_pop");
  return on_worst_data(
      {is_of_all ? error.covariance : error.sample_covariance, "products of both values"});
}

ExpectedError error_of_quantiles(const ForecastCall& call) {
  QuantilesQuery query = quantiles_query_of(call.parameters);
  query.method = static_cast<QuantilesMethod>(call.method);
  double largest = 0;
  for (const QuantileError& error :
       forecast_quantiles_error(query, static_cast<std::uint64_t>(call.rows), call.work)) {
    largest = std::max(largest, error.mean);
  }
  return {largest, "ranks"};
}

ExpectedError error_of_cdf(const ForecastCall& call) {
  const CdfPlan plan = session_cdf_plan(static_cast<CdfMethod>(call.method), call.parameters->bins,
                                        privacy_of(call.parameters));
  return in_rows(session_cdf_error(plan, kConfidence, call.work).everywhere);
}

// A group of fewer rows (or users) may be hidden.
ExpectedError error_of_selection(const ForecastCall& call) {
  const AggregateParameters* parameters = call.parameters;
  const auto groups = std::max<std::uint64_t>(parameters->max_groups, 1);
  const GroupSelection selection(parameters->guarantee, parameters->delta, groups);
  return {static_cast<double>(selection.rows_always_kept()),
          family_of(parameters).hashes_users() ? "persons that a group needs to be shown"
                                               : "rows that a group needs to be shown"};
}

double rank_error_at_least(const AggregateParameters* parameters, Method method, double tail) {
  double error = 0;
  report(guarded([&] {
    QuantilesQuery query = quantiles_query_of(parameters);
    query.method = static_cast<QuantilesMethod>(method);
    if (resolved_method(query) != QuantilesMethod::kTree) error = rank_error_at_least(query, tail);
  }));
  return error;
}

double least_shown_group(double epsilon, double delta, uint64 groups) {
  double least = 0;
  report(guarded([&] {
    least = static_cast<double>(GroupSelection(epsilon, delta, groups).rows_always_kept());
  }));
  return least;
}

std::optional<ExpectedError> expected_error(const AggregateParameters* parameters, Method method,
                                            const char* function, double rows) {
  const FamilyRow& family = family_of(parameters);
  if (family.error == nullptr) return std::nullopt;
  ExpectedError error{};
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    error = family.error({parameters, method, function, rows, {cancel, &memory}});
  });
  return error;
}

}  // namespace dpquantile
