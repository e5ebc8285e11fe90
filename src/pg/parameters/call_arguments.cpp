#include "pg/parameters/call_arguments.hpp"

#include "pg/parameters/public_functions.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/value_type.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
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

// dp_median, dp_quantile and dp_quantiles are of one family.
const char* name_of_quantiles(const FamilyRow& family, const List* parameters) {
  const auto* last = static_cast<const TargetEntry*>(llast(parameters));
  const bool has_options = exprType(as<Node>(last->expr)) == JSONBOID;
  const int stated = list_length(parameters) - (has_options ? 1 : 0);
  if (stated < static_cast<int>(family.parameters().size())) return nullptr;
  const auto* first = static_cast<const TargetEntry*>(linitial(parameters));
  const Oid type = exprType(as<Node>(first->expr));
  return type == FLOAT8ARRAYOID ? "quantiles" : "quantile";
}

bool is_of_number(const Node* expression) {
  const auto type = find_value_type(getBaseType(exprType(expression)));
  return type && !is_temporal(*type);
}

// What a cast that PostgreSQL added makes another number of, or null.
const Node* number_in_cast(const Node* expression) {
  if (!IsA(expression, FuncExpr) || !is_of_number(expression)) return nullptr;
  const auto* cast = as<FuncExpr>(expression);
  if (cast->funcformat != COERCE_IMPLICIT_CAST) return nullptr;
  const auto* number = static_cast<const Node*>(linitial(cast->args));
  return is_of_number(number) ? number : nullptr;
}

// "value, quantile, epsilon, lower, upper"
const char* argument_names(const FamilyRow& family, const List* parameters) {
  StringInfoData names;
  initStringInfo(&names);
  for (const Argument argument : family.arguments) {
    const char* name = argument == Argument::kQuantiles ? name_of_quantiles(family, parameters)
                                                        : name_of(argument);
    if (name == nullptr) continue;
    appendStringInfo(&names, "%s%s", names.len == 0 ? "" : ", ", name);
  }
  return names.data;
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
  List* parameters = parameter_entries(call, row_arguments);
  ListCell* cell;
  foreach (cell, parameters) {
    auto* expression = as<Node>(static_cast<TargetEntry*>(lfirst(cell))->expr);
    if (!contain_var_clause(expression) && !calls_changing_functions(expression) &&
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
                 : errhint("The arguments are %s. Write all after the row's own as literals, with "
                           "dp_options, or as query parameters.",
                           argument_names(family, parameters))));
  }
}

int place_of_value(const FamilyRow& family, int which) {
  return family.arguments_from_rows() - std::max(family.values_from_rows(), 1) + which;
}

const Node* value_argument(const Aggref* call, const FamilyRow& family, int which) {
  const int place = place_of_value(family, which);
  if (place < 0 || place >= list_length(call->args)) return nullptr;
  const auto* argument = static_cast<const TargetEntry*>(list_nth(call->args, place));
  return as<Node>(argument->expr);
}

const Node* uncast_value(const Aggref* call, const FamilyRow& family, int which) {
  const Node* value = value_argument(call, family, which);
  if (value == nullptr || call->aggdistinct != NIL || call->aggorder != NIL) return value;
  if (!family.takes_numbers() && family.hashes_first_argument()) return value;
  while (const Node* number = number_in_cast(value)) value = number;
  return value;
}

List* parameter_expressions(const Aggref* call, int row_arguments) {
  List* expressions = NIL;
  for (auto* entry : each<TargetEntry>(parameter_entries(call, row_arguments))) {
    expressions = lappend(expressions, entry->expr);
  }
  return expressions;
}

PreparedArguments prepare_arguments(List* expressions, PlanState* node) {
  PreparedArguments prepared{};
  for (auto* expression : each<Expr>(expressions)) {
    const int i = prepared.count++;
    prepared.types[i] = exprType(as<Node>(expression));
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
  for (auto* column : each<TargetEntry>(parameter_entries(call, row_arguments))) {
    const int i = arguments.count++;
    arguments.types[i] = exprType(as<Node>(column->expr));
    const int place = 1 + row_arguments + i;
    if (place >= PG_NARGS()) refuse_unknown_plan();
    arguments.values[i] = fcinfo->args[place];
  }
  return arguments;
}

}  // namespace dpquantile
