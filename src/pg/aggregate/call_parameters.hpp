#pragma once

#include "pg/parameters/read_parameters.hpp"

// The parameters of an aggregate call, as its transition function receives them or its final
// function evaluates them: checked in the same way, so that both refuse the same calls.
namespace dpquantile {

// The call as the user wrote it, with constant parameters. ereports if they are not constant.
const Aggref* find_checked_call(FunctionCallInfo fcinfo, const FamilyRow& family);

// The parameters that a transition function of the call received. ereports for anything out of
// range.
const AggregateParameters* receive_call_parameters(FunctionCallInfo fcinfo, Family family,
                                                   const Aggref* call, uint64 user_key_check);

// The parameters in this execution of the node, from expressions made by prepare_parameters().
// ereports for anything out of range.
const AggregateParameters* evaluate_call_parameters(Family family, const Aggref* call,
                                                    List* prepared, AggState* node,
                                                    uint64 user_key_check);

}  // namespace dpquantile
