// dp_learn_bounds: bounds of values of which nothing is known.
#include <optional>

#include "core/noisy_histogram/learned_bounds.hpp"
#include "pg/aggregate/aggregate.hpp"
#include "pg/release/group_release.hpp"
#include "pg/statistics/records_of_rows.hpp"

extern "C" {
#include "utils/array.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

Datum add_cell_of_row(FunctionCallInfo fcinfo, float8 value) {
  const Datum state = expanded_state(fcinfo, Family::kLearnedBounds);
  add_to_cell(get_expanded(DatumGetPointer(state)), value);
  return state;
}

std::optional<LearnedBounds> draw_answer(const ChargedGroup& group) {
  const OrdinalGrid grid = ordinal_grid_of(group.parameters->value_type);
  std::optional<LearnedBounds> bounds;
  with_mechanism_context(group, [&](const MechanismContext& context) {
    const auto counts = group.counts(context);
    bounds = learn_bounds(grid, counts, privacy_of(group.parameters), context);
  });
  return bounds;
}

Datum array_of(const LearnedBounds& bounds, ValueType type) {
  const NumberRange range = range_of_values(type, bounds.lower, bounds.upper);
  Datum values[] = {value_of_number(type, range.lower), value_of_number(type, range.upper)};
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(oid_of(type), &length, &by_value, &alignment);
  return PointerGetDatum(construct_array(values, 2, oid_of(type), length, by_value, alignment));
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value, epsilon [, options])
DPQ_FUNCTION(dpq_learn_bounds_transition) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  const ValueType type = value_type_of_rows(fcinfo, Family::kLearnedBounds);
  return add_cell_of_row(fcinfo, number_of_value(type, PG_GETARG_DATUM(1)));
}

// (state) returns an array of the values' type
DPQ_FUNCTION(dpq_learn_bounds_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const ValueType type = answer_type(fcinfo);
  const std::optional<LearnedBounds> bounds = draw_answer(group);
  if (!bounds) PG_RETURN_NULL();
  return array_of(*bounds, type);
}
