#pragma once

#include <cstddef>

#include "core/cdf/cdf_domain.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/quantiles/quantiles.hpp"
#include "pg/parameters/options.hpp"

namespace dpquantile {

// The validated parameters of a call, as plain data that is stored inside aggregate states and
// compared byte by byte.
struct AggregateParameters {
  // How values are assigned to cells; without cells where there are none. It comes first: where
  // there are many groups, each row should touch as little memory as possible.
  ValueGrid grid;
  Family family;
  Method method;
  ContributionRule contribution_rule;  // of a user-level mean or variance
  bool suppress;                       // of statistics over grids
  PrivacyMeasure measure;
  uint32 max_contributions;  // with ContributionRule::kFixed; else 0
  uint64 user_key_check;     // by which states of other user hashes are told; else 0
  double guarantee;          // epsilon or rho, by the measure
  double delta;              // 0 for pure and zCDP mechanisms
  double lower;              // 0, like upper, where there is no grid
  double upper;
  double granularity;  // 0: not given
  uint32 bins;         // of a CDF; else 0
  uint32 quantile_count;
  double quantiles[FLEXIBLE_ARRAY_MEMBER];
};

// In bytes, without padding at the end.
inline std::size_t parameters_size(uint32 quantile_count) {
  return offsetof(AggregateParameters, quantiles) + quantile_count * sizeof(double);
}

// Parameters as a user gave them.
struct GivenParameters {
  Family family;
  PrivacyParameter privacy;
  double delta;
  double lower;
  double upper;
  AggregateOptions options;
  const double* quantiles;  // not read for dp_synthesize, where their number says which they are
  uint32 quantile_count;
  uint64 user_key_check;
};

// Checks the parameters and puts them together, palloc'd and free of uninitialised bytes. ereports
// for anything out of range.
AggregateParameters* make_parameters(const GivenParameters& given);

// Whether two calls ask for the same, byte by byte.
bool same_parameters(const AggregateParameters* a, const AggregateParameters* b);

// The rows of the call's family and method.
const FamilyRow& family_of(const AggregateParameters* parameters);
const MethodRow& method_of(const AggregateParameters* parameters);

// The guarantee that the call asks for, but for its delta.
PrivacyParameter privacy_of(const AggregateParameters* parameters);

// What a call that draws quantiles asks for. It refers to the parameters.
QuantilesQuery quantiles_query_of(const AggregateParameters* parameters);

// The domain of a dp_cdf call.
CdfDomain domain_of(const AggregateParameters* parameters);

// What a user-level call asks for, and the grid of its values.
UserQuery user_query_of(const AggregateParameters* parameters);
FixedPoint fixed_point_of(const AggregateParameters* parameters);

}  // namespace dpquantile
