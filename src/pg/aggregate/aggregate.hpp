#pragma once

#include "pg/parameters/call_arguments.hpp"
#include "pg/state/expanded_records.hpp"

// What the aggregates have in common: transition and combine functions.
namespace dpquantile {

// What a transition or combine function returns where nothing is added.
inline Datum keep_state(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

// ereports if a state is of other functions: only a superuser's own aggregate could pass one.
void require_family(const RecordsState* state, Family family);

// Adds a row to a state in any form, or to none.
Datum add_row_to_any(FunctionCallInfo fcinfo, Family family);

// Adds a row to the state: (state, value, parameters...) returns state. NULL and NaN are ignored;
// on a grid, infinities and values out of bounds go to its ends. The most frequent case is inline.
pg_attribute_always_inline Datum add_row(FunctionCallInfo fcinfo, Family family) {
  if (likely(is_in_aggregate(fcinfo) && !PG_ARGISNULL(0) && !PG_ARGISNULL(1) &&
             is_expanded(PG_GETARG_POINTER(0)))) {
    get_expanded(PG_GETARG_POINTER(0))->add(PG_GETARG_FLOAT8(1));
    return PG_GETARG_DATUM(0);
  }
  return add_row_to_any(fcinfo, family);
}
// The same for numeric values: a number beyond float8 must not raise an error, it is clamped.
Datum add_numeric_row(FunctionCallInfo fcinfo, Family family);

// A flat state without records for a group that begins, made from the call's parameters as its
// transition function received them, and the check of the key of its user hashes.
RecordsState* start_group(FunctionCallInfo fcinfo, Family family, const Aggref* call,
                          uint64 user_key_check);

}  // namespace dpquantile
