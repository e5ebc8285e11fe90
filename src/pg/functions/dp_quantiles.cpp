// dp_quantiles, dp_quantile, dp_median and dp_synthesize.
#include "core/quantiles/quantiles.hpp"

#include <algorithm>

#include "pg/aggregate/aggregate.hpp"
#include "pg/release/group_release.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
}

namespace dpquantile {

namespace {

struct Answer {
  const AggregateParameters* parameters;
  const uint32* cells;
};

Answer answer_group(const ChargedGroup& group) {
  const AggregateParameters* parameters = group.parameters;
  const auto& mechanism = static_cast<const QuantilesMechanism&>(*group.mechanism);
  auto* answer = static_cast<uint32*>(palloc(parameters->quantile_count * sizeof(uint32)));
  with_mechanism_context(group, [&](const MechanismContext& context) {
    std::ranges::copy(mechanism.release(group.histogram(context), context), answer);
  });
  return {parameters, answer};
}

Datum values_of(const Answer& answer) {
  const uint32 count = answer.parameters->quantile_count;
  auto* values = static_cast<Datum*>(palloc(count * sizeof(Datum)));
  for (uint32 i = 0; i < count; ++i) {
    values[i] = Float8GetDatum(answer.parameters->grid.value_of(answer.cells[i]));
  }
  return PointerGetDatum(construct_array(values, static_cast<int>(count), FLOAT8OID, sizeof(float8),
                                         FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value float8, [quantiles float8[] | quantile float8,] epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_quantiles_transition) {
  return add_row(fcinfo, Family::kQuantiles);
}

DPQ_FUNCTION(dpq_quantiles_transition_numeric) {
  return add_numeric_row(fcinfo, Family::kQuantiles);
}

// (state) returns float8[]
DPQ_FUNCTION(dpq_quantiles_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  PG_RETURN_DATUM(values_of(answer_group(charged_group(fcinfo))));
}

// (state) returns float8
DPQ_FUNCTION(dpq_quantile_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const Answer answer = answer_group(charged_group(fcinfo));
  PG_RETURN_FLOAT8(answer.parameters->grid.value_of(answer.cells[0]));
}

// (state, value float8, size bigint, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_synthesize_transition) {
  return add_row(fcinfo, Family::kSynthesis);
}

DPQ_FUNCTION(dpq_synthesize_transition_numeric) {
  return add_numeric_row(fcinfo, Family::kSynthesis);
}

// (state) returns float8[]
DPQ_FUNCTION(dpq_synthesize_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  PG_RETURN_DATUM(values_of(answer_group(charged_group(fcinfo))));
}
