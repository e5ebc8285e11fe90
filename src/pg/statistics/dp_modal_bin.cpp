// dp_modal_bin: the number of the bin with the most values.
#include "core/noisy_histogram/modal_bin.hpp"

#include "pg/aggregate/aggregate.hpp"
#include "pg/release/group_release.hpp"
#include "pg/statistics/records_of_rows.hpp"

namespace dpquantile {

namespace {

Datum add_bin_of_row(FunctionCallInfo fcinfo, float8 value) {
  const Datum state = expanded_state(fcinfo, Family::kModalBin);
  add_to_bin(get_expanded(DatumGetPointer(state)), value);
  return state;
}

int32 draw_number(const ChargedGroup& group) {
  int32 number = 0;
  with_mechanism_context(group, [&](const MechanismContext& context) {
    const auto counts = group.counts(context);
    number = 1 + static_cast<int32>(draw_modal_bin(counts, group.parameters->guarantee, context));
  });
  return number;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value, epsilon, bounds)
DPQ_FUNCTION(dpq_modal_bin_transition) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  const ValueType type = value_type_of_rows(fcinfo, Family::kModalBin);
  return add_bin_of_row(fcinfo, number_of_value(type, PG_GETARG_DATUM(1)));
}

// (state) returns int
DPQ_FUNCTION(dpq_modal_bin_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  PG_RETURN_INT32(draw_number(charged_group(fcinfo)));
}
