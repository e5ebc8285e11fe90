#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"
}

// The parameters of an aggregate call: its arguments after those that come from the rows. They are
// public and must be constant for the whole query. check_constant_parameters() checks the
// expressions, not the rows, so an error never depends on the data.
namespace dpquantile {

inline constexpr int kMaxCallArguments = 8;

// Evaluated parameters, in the order of the call.
struct CallArguments {
  int count;
  Oid types[kMaxCallArguments];
  NullableDatum values[kMaxCallArguments];
};

// Whether PostgreSQL's executor called the function as part of an aggregate.
inline bool is_in_aggregate(FunctionCallInfo fcinfo) {
  return fcinfo->context != nullptr && IsA(fcinfo->context, AggState);
}
// ereports unless is_in_aggregate().
void require_aggregate(FunctionCallInfo fcinfo);

// Finds the call as the query states it, from a transition, combine or final function. In the final
// step of a parallel plan, the call is in the partial aggregate below. ereports if the function was
// not called as part of an aggregate, or if the plan does not show the call.
Aggref* find_user_call(FunctionCallInfo fcinfo);

// ereports unless every parameter is constant for the whole query: without columns, correlated
// subqueries and functions that are not immutable. Here and below, the first `row_arguments`
// arguments come from the rows and are not parameters.
void check_constant_parameters(const Aggref* call, int row_arguments);

// Prepares the parameters' expressions for evaluate_parameters(). Allocates in the current memory
// context, which must live as long as the query.
List* prepare_parameters(const Aggref* call, int row_arguments, AggState* node);

// Evaluates the parameters in this execution of the node. By-reference values live in the current
// memory context or longer. ereports what an expression reports.
CallArguments evaluate_parameters(const Aggref* call, int row_arguments, List* prepared,
                                  AggState* node);

// The parameters as a transition function receives them, after the state and the row's arguments.
// ereports if the function received fewer arguments than the call has.
CallArguments received_parameters(const Aggref* call, int row_arguments, FunctionCallInfo fcinfo);

}  // namespace dpquantile
