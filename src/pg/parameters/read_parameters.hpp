#pragma once

#include "pg/parameters/aggregate_parameters.hpp"
#include "pg/parameters/call_arguments.hpp"

namespace dpquantile {

// The parameters of a call, with the key of its user hashes (UserHash) or 0; those of quantiles are
// recognised by their number and types. ereports for a NULL and for anything out of range.
//   dp_quantiles: quantiles float8[], epsilon, lower, upper [, options jsonb]
//   dp_quantile:  quantile float8, epsilon, lower, upper [, options jsonb]
//   dp_median, dp_cdf: epsilon, lower, upper [, options jsonb]
//   dp_synthesize: size int, epsilon, lower, upper [, options jsonb]
//   dp_iqr: epsilon, delta [, options jsonb]
//   dp_user_mean, dp_user_variance, dp_user_grid_stats: epsilon, lower, upper [, options jsonb]
// With the option rho, epsilon is NULL.
AggregateParameters* read_parameters(Family family, const CallArguments& arguments,
                                     uint64 user_key_check);

}  // namespace dpquantile
