#pragma once

#include "pg/aggregate/aggregate.hpp"

// The transition functions of the aggregates that keep sums.
namespace dpquantile {

// The sums in the state of a transition function, whose family is checked.
inline ValueSums* sums_of(Datum state, Family family) {
  auto* flat = reinterpret_cast<RecordsState*>(DatumGetPointer(state));
  require_family(flat, family);
  return flat->sums();
}

// The state of the group; a new one for its first row.
inline Datum state_of_group(FunctionCallInfo fcinfo, Family family) {
  return unlikely(PG_ARGISNULL(0)) ? begin_group(fcinfo, family) : PG_GETARG_DATUM(0);
}

// Counts a row: (state, parameters...) returns state. ereports as add_row() does.
inline Datum count_row(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  const Datum state = state_of_group(fcinfo, family);
  ++sums_of(state, family)->count;
  return state;
}

// Adds a row by add(ValueSums*, const AggregateParameters&, float8): (state, value, parameters...)
// returns state. Ignores NULL and NaN. ereports as add_row() does.
template <class Add>
pg_attribute_always_inline Datum add_to_sums(FunctionCallInfo fcinfo, Family family, float8 value,
                                             Add add) {
  const Datum state = state_of_group(fcinfo, family);
  if (unlikely(std::isnan(value))) return state;
  ValueSums* sums = sums_of(state, family);
  add(sums, reinterpret_cast<RecordsState*>(DatumGetPointer(state))->parameters, value);
  return state;
}

// The same for the value of a row.
template <class Add>
pg_attribute_always_inline Datum add_row_to_sums(FunctionCallInfo fcinfo, Family family, Add add) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  const ValueType type = value_type_of_rows(fcinfo, family);
  // Apart: otherwise GCC adds with vectors, which takes longer.
  if (type == ValueType::kFloat8) return add_to_sums(fcinfo, family, PG_GETARG_FLOAT8(1), add);
  return add_to_sums(fcinfo, family, number_of_value(type, PG_GETARG_DATUM(1)), add);
}

}  // namespace dpquantile
