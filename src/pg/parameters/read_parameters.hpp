#pragma once

#include "pg/parameters/aggregate_parameters.hpp"
#include "pg/parameters/call_arguments.hpp"

namespace dpquantile {

// Reads and validates the parameters of a call. `user_key_check` is UserHash::key_check for a
// user-level family, otherwise 0. The number and types of the arguments tell the functions of
// Family::kQuantiles apart. ereports if a parameter is NULL or out of range, or if their number is
// wrong.
//   dp_quantiles: quantiles float8[], epsilon, lower, upper [, options jsonb]
//   dp_quantile:  quantile float8, epsilon, lower, upper [, options jsonb]
//   dp_median, dp_cdf: epsilon, lower, upper [, options jsonb]
//   dp_synthesize: size bigint, epsilon, lower, upper [, options jsonb]
//   dp_iqr: epsilon, delta [, options jsonb]
//   dp_count, dp_count_distinct, dp_learn_bounds: epsilon [, options jsonb]
//   dp_sum, dp_avg, dp_variance and their like, dp_stats: epsilon, lower, upper [, options jsonb]
//   dp_keep_group: epsilon, delta [, max_groups bigint]
//   dp_histogram: epsilon, bounds [, options jsonb]
//   dp_modal_bin: epsilon, bounds
//   dp_covar_pop, dp_corr, dp_regr_slope and their like: epsilon, lower, upper, x_lower, x_upper
//     [, options jsonb]
//   dp_user_mean, dp_user_variance, dp_user_grid_stats: epsilon, lower, upper [, options jsonb]
// `type` is that of the values. Bounds of dates and times have it, others are numbers. Epsilon is
// NULL if and only if the option rho is given.
AggregateParameters* read_parameters(Family family, ValueType type, const CallArguments& arguments,
                                     uint64 user_key_check);

}  // namespace dpquantile
