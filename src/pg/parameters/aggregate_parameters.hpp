#pragma once

#include <cstddef>
#include <span>

#include "core/cdf/cdf_domain.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/noisy_histogram/ordinal_grid.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/quantiles/quantiles.hpp"
#include "pg/parameters/options.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/value_type.hpp"

namespace dpquantile {

// The validated parameters of a call. Plain data: it is stored inside aggregate states and compared
// byte by byte. A row of one of many groups should touch little memory, so what comes last is left
// out where a call has neither a grid nor a list: a state of sums then has 128 bytes.
struct AggregateParameters {
  Family family;
  Method method;
  ContributionRule contribution_rule;  // of a user-level mean or variance
  bool suppress;                       // of dp_user_grid_stats
  bool has_grid;
  PrivacyMeasure measure;
  ValueType value_type;
  uint32 max_contributions;  // with ContributionRule::kFixed, otherwise 0
  uint32 max_groups;         // of dp_keep_group with a user, otherwise 0
  uint64 user_key_check;     // UserHash::key_check of the user-level families, otherwise 0
  double guarantee;          // epsilon or rho, by the measure
  double delta;              // 0 for pure and zCDP mechanisms
  double lower;              // lower and upper are 0 for a method without bounds
  double upper;
  double granularity;  // 0: not given
  uint32 bins;         // of a CDF or histogram, otherwise 0
  uint32 list_length;
  // Only with has_grid or a list
  ValueGrid grid;
  // A list of public numbers: quantiles, the bounds of bins, or the two bounds of x. Read it with
  // quantiles_of(), bin_bounds_of() or fixed_point_of_x().
  double list[FLEXIBLE_ARRAY_MEMBER];
};

// The size in bytes of parameters with a grid or a list, without padding at the end.
constexpr std::size_t parameters_size(std::size_t list_length) {
  return offsetof(AggregateParameters, list) + list_length * sizeof(double);
}
inline std::size_t size_of(const AggregateParameters* parameters) {
  if (!parameters->has_grid && parameters->list_length == 0) {
    return offsetof(AggregateParameters, grid);
  }
  return parameters_size(parameters->list_length);
}

// The quantiles that a call draws; those of dp_synthesize are evenly spaced. It has a row with
// Argument::kQuantiles or kSize.
inline std::span<const double> quantiles_of(const AggregateParameters* parameters) {
  return {parameters->list, parameters->list_length};
}
// The bounds of the bins of a call with Argument::kBinBounds.
inline std::span<const double> bin_bounds_of(const AggregateParameters* parameters) {
  return {parameters->list, parameters->list_length};
}

// The parameters as the caller gave them, not yet validated. A field of an argument that the family
// does not have is not read.
struct GivenParameters {
  Family family;
  ValueType value_type;
  PrivacyParameter privacy;
  double delta;
  double lower;
  double upper;
  AggregateOptions options;
  std::span<const double> quantiles;
  bool names_quantile;  // the call has an argument quantile: one number, not a list
  uint32 size;          // the number of quantiles of dp_synthesize
  std::span<const double> bin_bounds;
  double x_bounds[2];  // lower, upper
  uint64 user_key_check;
  int64 max_groups;
};

// Validates the parameters. *made is palloc'd and has no uninitialised bytes; it is unusable if a
// failure is returned, because a parameter is out of range.
Failure try_make_parameters(const GivenParameters& given, AggregateParameters** made);
// The same, and ereports the failure.
AggregateParameters* make_parameters(const GivenParameters& given);

// Whether two calls have the same parameters, byte by byte.
bool same_parameters(const AggregateParameters* a, const AggregateParameters* b);

// The table rows of the call's family and of its method.
const FamilyRow& family_of(const AggregateParameters* parameters);
const MethodRow& method_of(const AggregateParameters* parameters);

// Whether the call names no method, so that the terms of the budget that pays decide which one
// answers it.
bool leaves_method_to_budget(const AggregateParameters* parameters);
// The method that answers such a call under these terms. ereports without memory.
Method method_for_budget(const AggregateParameters* parameters, const BudgetTerms& terms);
// A palloc'd copy with another method.
AggregateParameters* with_method(const AggregateParameters* parameters, Method method);

// A palloc'd copy with another epsilon or rho.
AggregateParameters* with_guarantee(const AggregateParameters* parameters, double guarantee);

// The epsilon or rho of the call.
PrivacyParameter privacy_of(const AggregateParameters* parameters);

// The query of a call that draws quantiles. It points into the parameters.
QuantilesQuery quantiles_query_of(const AggregateParameters* parameters);

// The domain of a dp_cdf call.
CdfDomain domain_of(const AggregateParameters* parameters);

// The grid of a call that learns the bounds of values of this type. It is as fine as is of use:
// that of numbers has eight cells an octave, up to the largest double. Numbers nearer to 0 than any
// real with all its digits lie in a cell with 0, so that the bounds of a column of zeros are bounds
// of any aggregate. Dates and times of our days lie in cells of some hundred days, times of day in
// cells of some 18 minutes.
OrdinalGrid ordinal_grid_of(ValueType type);

// The query of a user-level call, and the fixed-point scale of its values.
UserQuery user_query_of(const AggregateParameters* parameters);
FixedPoint fixed_point_of(const AggregateParameters* parameters);
// That of the second values of a call with Argument::kX.
inline FixedPoint fixed_point_of_x(const AggregateParameters* parameters) {
  return {parameters->list[0], parameters->list[1]};
}

}  // namespace dpquantile
