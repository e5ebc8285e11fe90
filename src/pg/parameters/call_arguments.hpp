#pragma once

#include "pg/parameters/family.hpp"
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

// The call that a transition or final function belongs to. ereports if the function was not called
// as part of an aggregate, or if the plan does not show the call.
const Aggref* find_call(FunctionCallInfo fcinfo);

// ereports unless every parameter is constant for the whole query: without columns, correlated
// subqueries and functions that are not immutable. Below, the first `row_arguments`
// arguments come from the rows and are not parameters.
void check_constant_parameters(const Aggref* call, const FamilyRow& family);

// The argument that is a value of each row, or null if the family has none. `which` is 1 for the
// second of two values, here and below.
const Node* value_argument(const Aggref* call, const FamilyRow& family, int which = 0);
// Its place among the arguments, from 0; negative if the family has none.
int place_of_value(const FamilyRow& family, int which);

// The same without the cast by which PostgreSQL brings a number to the type of the bounds: 0.5
// makes numerics of integers, and a bound of type float8 makes it of numerics, which fails for
// 1e400. The aggregates take each number as it is, so the cast is not evaluated (value_cast.hpp).
// It stays where PostgreSQL sorts by it, because of DISTINCT or ORDER BY, and where the value is
// hashed.
const Node* uncast_value(const Aggref* call, const FamilyRow& family, int which = 0);

// The expressions of the parameters, in the order of the call.
List* parameter_expressions(const Aggref* call, int row_arguments);

// Parameters that an executor node can evaluate.
struct PreparedArguments {
  int count;
  Oid types[kMaxCallArguments];
  ExprState* expressions[kMaxCallArguments];
};

// Prepares expressions for evaluation by the node, in the current memory context, which must live
// as long as the query.
PreparedArguments prepare_arguments(List* expressions, PlanState* node);

// Evaluates them. By-reference values live in the current memory context or longer. ereports what
// an expression reports.
CallArguments evaluate_arguments(const PreparedArguments& prepared, ExprContext* context);

// The parameters as a transition function receives them, after the state and the row's arguments.
// ereports if the function received fewer arguments than the call has.
CallArguments received_parameters(const Aggref* call, int row_arguments, FunctionCallInfo fcinfo);

}  // namespace dpquantile
