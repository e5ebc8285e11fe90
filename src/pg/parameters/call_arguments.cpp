#include "pg/parameters/call_arguments.hpp"

extern "C" {
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
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

// The plan node whose output the Vars in this node's target list refer to.
Plan* input_plan(Plan* plan) {
  switch (nodeTag(plan)) {
    case T_Append:
      return static_cast<Plan*>(linitial(reinterpret_cast<Append*>(plan)->appendplans));
    case T_MergeAppend:
      return static_cast<Plan*>(linitial(reinterpret_cast<MergeAppend*>(plan)->mergeplans));
    case T_SubqueryScan:
      return reinterpret_cast<SubqueryScan*>(plan)->subplan;
    default:
      return outerPlan(plan);
  }
}

// Follows a column of a plan's output down to the partial aggregate that computes it.
Aggref* find_partial_call(Plan* plan, AttrNumber column) {
  while (plan != nullptr) {
    if (column < 1 || column > list_length(plan->targetlist)) refuse_unknown_plan();
    Node* source = reinterpret_cast<Node*>(
        static_cast<TargetEntry*>(list_nth(plan->targetlist, column - 1))->expr);
    if (IsA(source, Aggref)) return reinterpret_cast<Aggref*>(source);
    if (!IsA(source, Var)) refuse_unknown_plan();
    column = reinterpret_cast<Var*>(source)->varattno;
    plan = input_plan(plan);
  }
  refuse_unknown_plan();
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

Aggref* find_user_call(FunctionCallInfo fcinfo) {
  require_aggregate(fcinfo);
  Aggref* call = AggGetAggref(fcinfo);
  if (call == nullptr) refuse_unknown_plan();
  if (!DO_AGGSPLIT_COMBINE(call->aggsplit)) return call;

  const auto* state_argument = static_cast<TargetEntry*>(linitial(call->args));
  const Node* source = reinterpret_cast<const Node*>(state_argument->expr);
  if (!IsA(source, Var)) refuse_unknown_plan();
  const auto* node = reinterpret_cast<AggState*>(fcinfo->context);
  return find_partial_call(outerPlan(node->ss.ps.plan),
                           reinterpret_cast<const Var*>(source)->varattno);
}

void check_constant_parameters(const Aggref* call, int row_arguments) {
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
             errhint("Write it as a literal, with dp_options, or as a query parameter.")));
  }
}

List* prepare_parameters(const Aggref* call, int row_arguments, AggState* node) {
  List* prepared = NIL;
  ListCell* cell;
  foreach (cell, parameter_entries(call, row_arguments)) {
    prepared = lappend(prepared,
                       ExecInitExpr(static_cast<TargetEntry*>(lfirst(cell))->expr, &node->ss.ps));
  }
  return prepared;
}

CallArguments evaluate_parameters(const Aggref* call, int row_arguments, List* prepared,
                                  AggState* node) {
  CallArguments arguments{};
  ListCell* entry;
  ListCell* expression;
  forboth(entry, parameter_entries(call, row_arguments), expression, prepared) {
    const int i = arguments.count++;
    arguments.types[i] =
        exprType(reinterpret_cast<const Node*>(static_cast<TargetEntry*>(lfirst(entry))->expr));
    arguments.values[i].value =
        ExecEvalExpr(static_cast<ExprState*>(lfirst(expression)), node->ss.ps.ps_ExprContext,
                     &arguments.values[i].isnull);
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
