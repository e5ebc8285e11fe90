#pragma once

#include "pg/parameters/aggregate_parameters.hpp"

// The checks of the families, for FamilyRow::check. They run inside guarded(): they throw
// ParameterError or std::bad_alloc and never ereport.
namespace dpquantile {

void check_quantiles_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_cdf_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_iqr_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_user_mean_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_user_variance_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_user_grids_parameters(const GivenParameters& given, AggregateParameters* checked);

void check_count_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_sum_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_mean_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_moments_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_pair_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_keep_group_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_keep_user_group_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_histogram_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_modal_bin_parameters(const GivenParameters& given, AggregateParameters* checked);
void check_learned_bounds_parameters(const GivenParameters& given, AggregateParameters* checked);

// Throws ParameterError unless the options hold both bounds. For a call that needs bounds but has
// no arguments for them.
void require_bounds_options(const AggregateOptions& options);

}  // namespace dpquantile
