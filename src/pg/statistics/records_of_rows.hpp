#pragma once

#include <algorithm>
#include <cmath>

#include "core/noisy_histogram/bin_bounds.hpp"
#include "pg/state/expanded_records.hpp"

// What the aggregates keep of a row, apart from its cell of the value grid.
namespace dpquantile {

// dp_sum keeps the sum of the distances from the lower bound.
inline constexpr auto add_shifted = [](ValueSums* sums, const AggregateParameters& parameters,
                                       float8 value) {
  const float8 largest = std::max(std::abs(parameters.lower), std::abs(parameters.upper));
  sums->add_shifted(SumScale{parameters.lower, parameters.upper, largest}.shifted_units(value));
};

// dp_avg, the variances and dp_stats keep the sums of the values and of their squares.
inline constexpr auto add_units = [](ValueSums* sums, const AggregateParameters& parameters,
                                     float8 value) {
  sums->add(value_units(FixedPoint{parameters.lower, parameters.upper}, value));
};

// dp_corr, the covariances and regressions keep the sums of products of both values.
inline void add_pair(PairSums* pairs, const AggregateParameters& parameters, float8 value,
                     float8 x) {
  pairs->add(value_units(FixedPoint{parameters.lower, parameters.upper}, value),
             value_units(fixed_point_of_x(&parameters), x));
}

// dp_histogram keeps the number of the bin. A value outside all bins is ignored.
inline void add_to_bin(ExpandedRecords* records, float8 value) {
  const AggregateParameters* parameters = records->pool->parameters;
  const auto bin = bin_of(bin_bounds_of(parameters), value);
  if (bin) records->add(static_cast<float8>(*bin));
}

// dp_learn_bounds keeps the number of the cell. NaN and infinities are ignored: as bounds they
// would be the ends of the type.
inline void add_to_cell(ExpandedRecords* records, float8 value) {
  if (!std::isfinite(value)) return;
  const ValueType type = records->pool->parameters->value_type;
  records->add(static_cast<float8>(ordinal_grid_of(type).cell_of(value)));
}

}  // namespace dpquantile
