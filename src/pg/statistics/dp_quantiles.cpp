// dp_quantiles, dp_quantile, dp_median and dp_synthesize.
#include "core/quantiles/quantiles.hpp"

#include <algorithm>

#include "pg/aggregate/aggregate.hpp"
#include "pg/release/group_release.hpp"

extern "C" {
#include "utils/array.h"
#include "utils/lsyscache.h"
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
  auto* answer = static_cast<uint32*>(palloc(quantiles_of(parameters).size() * sizeof(uint32)));
  with_mechanism_context(group, [&](const MechanismContext& context) {
    std::ranges::copy(mechanism.release(group.histogram(context), context), answer);
  });
  return {parameters, answer};
}

// One of the values that the answer draws.
Datum value_in(const Answer& answer, uint32 i, ValueType type) {
  return value_of_number(type, answer.parameters->grid.value_of(answer.cells[i]));
}

Datum array_of(const Answer& answer, ValueType type) {
  const auto count = static_cast<uint32>(quantiles_of(answer.parameters).size());
  auto* values = static_cast<Datum*>(palloc(count * sizeof(Datum)));
  for (uint32 i = 0; i < count; ++i) values[i] = value_in(answer, i, type);
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(oid_of(type), &length, &by_value, &alignment);
  return PointerGetDatum(
      construct_array(values, static_cast<int>(count), oid_of(type), length, by_value, alignment));
}

Datum release_array(FunctionCallInfo fcinfo) {
  const ValueType type = answer_type(fcinfo);
  return array_of(answer_group(charged_group(fcinfo)), type);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value float8, [quantiles float8[] | quantile float8,] epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_quantiles_transition) {
  return add_row(fcinfo, Family::kQuantiles);
}

DPQ_FUNCTION(dpq_quantiles_transition_typed) {
  return add_typed_row(fcinfo, Family::kQuantiles);
}

// (state) returns an array of the values' type
DPQ_FUNCTION(dpq_quantiles_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  return release_array(fcinfo);
}

// (state) returns the values' type
DPQ_FUNCTION(dpq_quantile_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ValueType type = answer_type(fcinfo);
  return value_in(answer_group(charged_group(fcinfo)), 0, type);
}

// (state, value float8, size bigint, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_synthesize_transition) {
  return add_row(fcinfo, Family::kSynthesis);
}

DPQ_FUNCTION(dpq_synthesize_transition_typed) {
  return add_typed_row(fcinfo, Family::kSynthesis);
}

// (state) returns an array of the values' type
DPQ_FUNCTION(dpq_synthesize_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  return release_array(fcinfo);
}
