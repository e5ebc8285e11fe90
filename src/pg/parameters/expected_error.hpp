#pragma once

#include <optional>
#include <string_view>

#include "pg/parameters/aggregate_parameters.hpp"

namespace dpquantile {

// Those of the other fields of dp_stats.
struct FieldErrors {
  double count;
  double sum;
  double variance;
  double stddev;
};

// The mean absolute error to expect of an answer.
struct ExpectedError {
  double amount;
  const char* unit;
  bool at_most = false;  // the amount is that of the worst data, and a bound for others
  std::optional<FieldErrors> fields = std::nullopt;
};

// The error of the call on a group of `rows` rows. It depends on public parameters only: the
// forecast reads no data and needs no charge. `function` is the SQL function, such as "dp_stddev".
// None for answers whose error depends on more than the number of rows. That of means and spreads
// depends on the values, and is the one of the worst. For a CDF it is the error of all its counts
// at once, with probability 95 %. Of several quantiles it is the largest. Of the choice of groups
// it is the number of rows below which a group may be hidden, of learned bounds the number of rows
// that may lie outside each of them, of the fullest bin the number of rows that it may lack.
// `method` answers the call. ereports as the forecasts do.
std::optional<ExpectedError> expected_error(const AggregateParameters* parameters, Method method,
                                            const char* function, double rows);

// From how many rows (or persons) on a group is always shown by dp_keep_group, where each person
// counts in at most `groups`; with rows that is 1. ereports if they are no parameters of it.
double least_shown_group(double epsilon, double delta, uint64 groups);

// By how many ranks an answer of a call for quantiles is off at least with this probability, where
// values are spread evenly: on other data by more. 0 if no such number is known.
double rank_error_at_least(const AggregateParameters* parameters, Method method, double tail);

// --- The forecasts of the families, for FamilyRow::error
// ------------------------------------------ They run inside guarded() and never ereport.

// The call of a forecast.
struct ForecastCall {
  const AggregateParameters* parameters;
  Method method;
  std::string_view function;
  double rows;
  const Workspace& work;
};

// The error of one number, or of each of several that a row changes by at most 1 in all.
ExpectedError error_of_number(const ForecastCall& call);
ExpectedError error_of_bounds(const ForecastCall& call);
ExpectedError error_of_modal_bin(const ForecastCall& call);
ExpectedError error_of_sum(const ForecastCall& call);
ExpectedError error_of_mean(const ForecastCall& call);
ExpectedError error_of_moments(const ForecastCall& call);
ExpectedError error_of_covariance(const ForecastCall& call);
ExpectedError error_of_quantiles(const ForecastCall& call);
ExpectedError error_of_cdf(const ForecastCall& call);
ExpectedError error_of_selection(const ForecastCall& call);

}  // namespace dpquantile
