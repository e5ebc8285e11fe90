#include "pg/protect/early_expressions.hpp"

#include "pg/protect/node_functions.hpp"
#include "pg/protect/outside.hpp"

extern "C" {
#include "access/detoast.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// A longer value makes each row that is compared with it take a time that can be measured.
constexpr Size kMaxConstantBytes = 8 * 1024;
constexpr Size kMaxParameterBytes = 64 * 1024;
constexpr int kMaxElements = 1000;

bool is_too_large(Datum value, Oid type, Size most_bytes) {
  if (get_typlen(type) != -1) return false;
  if (toast_raw_datum_size(value) > most_bytes) return true;
  if (!OidIsValid(get_element_type(getBaseType(type)))) return false;
  const ArrayType* array = DatumGetArrayTypeP(value);
  return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) > kMaxElements;
}

constexpr char kSizeHint[] = "Select by a shorter list, or join a table with a unique key.";

void check_constant(const QueryLevel* level, const Const* constant, int location) {
  if (constant->constisnull ||
      !is_too_large(constant->constvalue, constant->consttype, kMaxConstantBytes)) {
    return;
  }
  refuse_with_code(level->statement->refused, ERRCODE_PROGRAM_LIMIT_EXCEEDED, location,
                   psprintf("a constant has more than %d elements or %d bytes", kMaxElements,
                            static_cast<int>(kMaxConstantBytes)),
                   kSizeHint);
}

void check_type(const QueryLevel* level, const Node* expression) {
  const Oid type = exprType(expression);
  if (is_inside_type(type)) return;
  refuse(level->statement->refused, exprLocation(expression),
         psprintf("protected rows are compared with a value of type %s", format_type_be(type)),
         "Use values of PostgreSQL's own types.");
}

void check_one_value(const QueryLevel* level, Node* expression) {
  if (!expression_returns_set(expression)) return;
  refuse(level->statement->refused, exprLocation(expression),
         "a function returns several values for each row", "Join them: FROM unnest(...).");
}

[[noreturn]] void refuse_large_parameter() {
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("a value that protected rows are compared with is too large"),
                  errdetail("It has more than %d elements or %d bytes.", kMaxElements,
                            static_cast<int>(kMaxParameterBytes)),
                  errhint("%s", kSizeHint)));
}

}  // namespace

Node* early_expression(QueryLevel* level, Node* expression) {
  const int location = exprLocation(expression);
  check_type(level, expression);
  check_one_value(level, expression);
  check_outside(level, expression, nullptr);
  Node* folded = IsA(expression, Const) ? expression : eval_const_expressions(nullptr, expression);
  if (IsA(folded, Const)) {
    check_constant(level, reinterpret_cast<Const*>(folded), location);
  } else {
    level->statement->early = lappend(level->statement->early, folded);
  }
  return folded;
}

List* plan_early_expressions(List* expressions) {
  List* planned = NIL;
  ListCell* cell;
  foreach (cell, expressions) {
    auto* expression = static_cast<Expr*>(copyObjectImpl(lfirst(cell)));
    planned = lappend(planned, expression_planner(expression));
  }
  return planned;
}

void evaluate_early_expressions(List* planned, EState* state) {
  ExprContext* context = CreateExprContext(state);
  const MemoryContext previous = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
  ListCell* cell;
  foreach (cell, planned) {
    auto* expression = static_cast<Expr*>(lfirst(cell));
    const Oid type = exprType(reinterpret_cast<Node*>(expression));
    bool is_null = false;
    const Datum value = ExecEvalExpr(ExecInitExprWithParams(expression, state->es_param_list_info),
                                     context, &is_null);
    if (!is_null && is_too_large(value, type, kMaxParameterBytes)) refuse_large_parameter();
  }
  MemoryContextSwitchTo(previous);
  FreeExprContext(context, true);
}

}  // namespace dpquantile
