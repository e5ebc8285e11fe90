#pragma once

#include "pg/parameters/read_parameters.hpp"

// The parameters of an aggregate call. The transition function receives them, the release node
// evaluates them. Both check them here, so both refuse the same calls.
namespace dpquantile {

// Whether a release node gets the call's states. It looks up before the charge what calls need.
// Otherwise somebody has made an aggregate of one's own that shows states.
bool is_below_release(const Aggref* call);

// A release node reads its rows in between. An error must not skip the end.
void begin_released_read();
void end_released_read();

// The call that an aggregate's function belongs to, below a release node. ereports if the function
// was not called as part of an aggregate, and if the aggregate gives an answer instead of its
// state: then the query was planned without a release node, and nothing checked its parameters.
const Aggref* find_released_call(FunctionCallInfo fcinfo);

// ereports if the aggregate computes with values, and not with those of the type that the call has.
void require_value_type(const Aggref* call, const FamilyRow& family);

// The type of the values that the rows of a call have. kFloat8 if the family takes values of any
// type and does not compute with them. `which` is 1 for the second of two values.
ValueType type_of_rows(const Aggref* call, Family family, int which = 0);

// Validates the parameters of a call of a query, whose rows give the value without the cast to the
// type of the bounds (uncast_value). `user_key_check`, here and below, is UserHash::key_check for
// a user-level family, otherwise 0. ereports if a parameter is out of range, and for DISTINCT with
// a method for which the rows per user are public.
const AggregateParameters* checked_parameters(Family family, const Aggref* call,
                                              const CallArguments& arguments,
                                              uint64 user_key_check);

// The validated parameters that a transition function of the call received. ereports as
// checked_parameters() does.
const AggregateParameters* receive_call_parameters(FunctionCallInfo fcinfo, Family family,
                                                   const Aggref* call, uint64 user_key_check);

}  // namespace dpquantile
