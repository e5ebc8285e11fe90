#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"
}

// The arguments of an aggregate call after those that come from its rows: its parameters. They are
// public and must be constant for the whole query; both are checked here, on the expressions and
// not on the rows, so that an error never depends on the data.
namespace dpquantile {

inline constexpr int kMaxCallArguments = 8;

// Evaluated parameters, in the order of the call.
struct CallArguments {
  int count;
  Oid types[kMaxCallArguments];
  NullableDatum values[kMaxCallArguments];
};

// Whether the function was called by PostgreSQL's executor as part of an aggregate.
inline bool is_in_aggregate(FunctionCallInfo fcinfo) {
  return fcinfo->context != nullptr && IsA(fcinfo->context, AggState);
}
// ereports unless it was.
void require_aggregate(FunctionCallInfo fcinfo);

// The call as written by the user, seen from a transition or a final function; for the final step
// of a parallel plan this is the partial aggregate below. ereports if the function was not called
// as part of an aggregate, or the call cannot be found.
Aggref* find_user_call(FunctionCallInfo fcinfo);

// ereports unless every parameter is constant for the whole query: no column, no correlated
// subquery, no function but immutable ones. Here and below, the first `row_arguments` arguments are
// not parameters.
void check_constant_parameters(const Aggref* call, int row_arguments);

// The parameters' expressions, made ready for evaluate_parameters(). Allocates in the current
// memory context, which must live as long as the query.
List* prepare_parameters(const Aggref* call, int row_arguments, AggState* node);

// The parameters' values in this execution of the node; by-reference values live in the current
// memory context or longer.
CallArguments evaluate_parameters(const Aggref* call, int row_arguments, List* prepared,
                                  AggState* node);

// The parameters as a transition function receives them, after the state and the row's arguments.
CallArguments received_parameters(const Aggref* call, int row_arguments, FunctionCallInfo fcinfo);

}  // namespace dpquantile
