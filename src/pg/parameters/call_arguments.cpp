#include "pg/parameters/call_arguments.hpp"

extern "C" {
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_unknown_plan() {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("the parameters of the aggregate call cannot be found in this plan"),
                  errhint("Call the aggregate directly in a query's SELECT list.")));
}

bool is_parameter(const TargetEntry* argument) {
  return !argument->resjunk;
}

// The target entries of the parameters: those after the row arguments, without sort columns.
List* parameter_entries(const Aggref* call, int row_arguments) {
  List* entries = NIL;
  ListCell* cell;
  foreach (cell, call->args) {
    auto* argument = static_cast<TargetEntry*>(lfirst(cell));
    if (foreach_current_index(cell) >= row_arguments && is_parameter(argument)) {
      entries = lappend(entries, argument);
    }
  }
  if (list_length(entries) > kMaxCallArguments) refuse_unknown_plan();
  return entries;
}

}  // namespace

void require_aggregate(FunctionCallInfo fcinfo) {
  if (is_in_aggregate(fcinfo)) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("this function may only be called as part of an aggregate")));
}

const Aggref* find_call(FunctionCallInfo fcinfo) {
  require_aggregate(fcinfo);
  const Aggref* call = AggGetAggref(fcinfo);
  if (call == nullptr) refuse_unknown_plan();
  return call;
}

void check_constant_parameters(const Aggref* call, const FamilyRow& family) {
  const int row_arguments = family.arguments_from_rows();
  ListCell* cell;
  foreach (cell, parameter_entries(call, row_arguments)) {
    auto* expression = reinterpret_cast<Node*>(static_cast<TargetEntry*>(lfirst(cell))->expr);
    if (!contain_var_clause(expression) && !contain_mutable_functions(expression) &&
        !contain_subplans(expression)) {
      continue;
    }
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("the parameters of a private aggregate must be constant for the whole query"),
             errdetail("Argument %d depends on a column, a correlated subquery or a function "
                       "that is not immutable.",
                       foreach_current_index(cell) + row_arguments + 1),
             family.family == Family::kCount
                 ? errhint("dp_count(epsilon) counts all rows, dp_count(value, epsilon) those with "
                           "a value.")
                 : errhint("Write it as a literal, with dp_options, or as a query parameter.")));
  }
}

List* parameter_expressions(const Aggref* call, int row_arguments) {
  List* expressions = NIL;
  ListCell* cell;
  foreach (cell, parameter_entries(call, row_arguments)) {
    expressions = lappend(expressions, static_cast<TargetEntry*>(lfirst(cell))->expr);
  }
  return expressions;
}

PreparedArguments prepare_arguments(List* expressions, PlanState* node) {
  PreparedArguments prepared{};
  ListCell* cell;
  foreach (cell, expressions) {
    auto* expression = static_cast<Expr*>(lfirst(cell));
    const int i = prepared.count++;
    prepared.types[i] = exprType(reinterpret_cast<const Node*>(expression));
    prepared.expressions[i] = ExecInitExpr(expression, node);
  }
  return prepared;
}

CallArguments evaluate_arguments(const PreparedArguments& prepared, ExprContext* context) {
  CallArguments arguments{};
  arguments.count = prepared.count;
  for (int i = 0; i < prepared.count; ++i) {
    arguments.types[i] = prepared.types[i];
    arguments.values[i].value =
        ExecEvalExpr(prepared.expressions[i], context, &arguments.values[i].isnull);
  }
  return arguments;
}

CallArguments received_parameters(const Aggref* call, int row_arguments, FunctionCallInfo fcinfo) {
  CallArguments arguments{};
  ListCell* entry;
  foreach (entry, parameter_entries(call, row_arguments)) {
    const int i = arguments.count++;
    arguments.types[i] =
        exprType(reinterpret_cast<const Node*>(static_cast<TargetEntry*>(lfirst(entry))->expr));
    const int place = 1 + row_arguments + i;
    if (place >= PG_NARGS()) refuse_unknown_plan();
    arguments.values[i] = fcinfo->args[place];
  }
  return arguments;
}

}  // namespace dpquantile
