#pragma once

#include "pg/parameters/read_parameters.hpp"

// The parameters of an aggregate call. The transition function receives them, the final function
// evaluates them. Both check them here, so both refuse the same calls.
namespace dpquantile {

// The call as the query states it. ereports as find_user_call() does, and if a parameter is not
// constant.
const Aggref* find_checked_call(FunctionCallInfo fcinfo, const FamilyRow& family);

// The validated parameters that a transition function of the call received. `user_key_check`, here
// and below, is UserHash::key_check for a user-level family, otherwise 0. ereports if a parameter
// is out of range, and for DISTINCT with a method for which the rows per user are public.
const AggregateParameters* receive_call_parameters(FunctionCallInfo fcinfo, Family family,
                                                   const Aggref* call, uint64 user_key_check);

// The validated parameters in this execution of the node. `prepared` comes from
// prepare_parameters(). ereports as receive_call_parameters() does.
const AggregateParameters* evaluate_call_parameters(Family family, const Aggref* call,
                                                    List* prepared, AggState* node,
                                                    uint64 user_key_check);

}  // namespace dpquantile
