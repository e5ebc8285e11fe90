#pragma once

#include "pg/parameters/call_arguments.hpp"
#include "pg/state/expanded_records.hpp"

// The transition functions of the row-level aggregates, and what all transition functions share.
namespace dpquantile {

// The unchanged state: a transition or combine function returns it if it adds nothing.
inline Datum keep_state(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

// ereports unless the state belongs to this family. Only an aggregate that a superuser defined can
// pass a state of another family.
void require_family(const RecordsState* state, Family family);

// What a transition function keeps for the query of the call that it belongs to.
struct KeptCall {
  const Aggref* call;    // null before the first row
  ValueType value_type;  // of the rows (type_of_rows)
  ValueType x_type;      // of their second values, if the family has them
};
const KeptCall* kept_call(FunctionCallInfo fcinfo, Family family);
// The same for a call of no family, which gives states of any. The type of values is kFloat8 if the
// private aggregates do not take that of the first argument.
const KeptCall* kept_collecting_call(FunctionCallInfo fcinfo);

// The type of the values of the rows. ereports as add_row() does.
pg_attribute_always_inline ValueType value_type_of_rows(FunctionCallInfo fcinfo, Family family) {
  const auto* kept = static_cast<const KeptCall*>(fcinfo->flinfo->fn_extra);
  if (unlikely(kept == nullptr || kept->call == nullptr)) kept = kept_call(fcinfo, family);
  return kept->value_type;
}

// add_row() for a state in any form, or none.
Datum add_row_to_any_state(FunctionCallInfo fcinfo, Family family);

// Adds a row to the state: (state, value, parameters...) returns state. Ignores NULL and NaN. On a
// value grid, infinities and values out of bounds count in the cell at the nearer end. ereports if
// the function was not called as part of an aggregate, if a parameter is out of range, if the group
// has too many records, or if memory is short. The most frequent case is inline.
pg_attribute_always_inline Datum add_row(FunctionCallInfo fcinfo, Family family) {
  if (likely(is_in_aggregate(fcinfo) && !PG_ARGISNULL(0) && !PG_ARGISNULL(1) &&
             is_expanded(PG_GETARG_POINTER(0)))) {
    const ValueType type = value_type_of_rows(fcinfo, family);
    get_expanded(PG_GETARG_POINTER(0))->add(number_of_value(type, PG_GETARG_DATUM(1)));
    return PG_GETARG_DATUM(0);
  }
  return add_row_to_any_state(fcinfo, family);
}

// The same for the hashes of values of any type. ereports as make_user_hash() does.
Datum add_hashed_row(FunctionCallInfo fcinfo, Family family);

// The state of a group of this family in its expanded form, a new one for its first row. Requires a
// family whose records can be expanded. ereports as add_row() does.
Datum expanded_state(FunctionCallInfo fcinfo, Family family);

// The state of a new group of this family without records. ereports as add_row() does.
Datum begin_group(FunctionCallInfo fcinfo, Family family);

// The same with these parameters. ereports if memory is short.
Datum begin_group(FunctionCallInfo fcinfo, const AggregateParameters* parameters);

// Adds the number of a value to the state of a group of this family; ignores NaN. `state` is the
// function's own, or that of a group that it has just begun. ereports as add_row() does. Requires a
// family with values on a value grid or by themselves.
Datum add_number(FunctionCallInfo fcinfo, Family family, Datum state, float8 value);

// Makes a flat state without records for a new group, from the parameters that the call's
// transition function received. `user_key_check` is UserHash::key_check for a user-level family,
// otherwise 0. ereports if a parameter is out of range.
RecordsState* start_group(FunctionCallInfo fcinfo, Family family, const Aggref* call,
                          uint64 user_key_check);

}  // namespace dpquantile
