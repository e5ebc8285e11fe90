#include "pg/parameters/public_functions.hpp"

#include "pg/server/trees.hpp"
#include "pg/server/value_type.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

bool is_public(Oid function) {
  switch (function) {
    case F_CURRENT_SETTING_TEXT:
    case F_CURRENT_SETTING_TEXT_BOOL:
    case F_NOW:
    case F_TRANSACTION_TIMESTAMP:
    case F_STATEMENT_TIMESTAMP:
    case F_DATE_IN:
    case F_TIME_IN:
    case F_TIMESTAMP_IN:
    case F_TIMESTAMPTZ_IN:
    case F_INTERVAL_IN:
    case F_DATE_TIMESTAMPTZ:
    case F_TIME_TIMESTAMPTZ:
    case F_TIMESTAMP_TIMESTAMPTZ:
    case F_TIMESTAMPTZ_DATE:
    case F_TIMESTAMPTZ_TIMESTAMP:
    case F_TIMESTAMPTZ_PL_INTERVAL:
    case F_TIMESTAMPTZ_MI_INTERVAL:
    case F_INTERVAL_PL_TIMESTAMPTZ:
    case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
    case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
    case F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL:
    case F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8:
    case F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8_TEXT:
      return true;
    default:
      return false;
  }
}

// For check_functions_in_node().
bool is_changing(Oid function, void*) {
  return func_volatile(function) != PROVOLATILE_IMMUTABLE && !is_public(function);
}

// array_in() is not immutable, because its elements may have any type.
bool is_text_to_array_of_values(Node* node) {
  if (!IsA(node, CoerceViaIO)) return false;
  const auto* conversion = as<CoerceViaIO>(node);
  Oid output;
  bool is_varlena;
  getTypeOutputInfo(exprType(as<Node>(conversion->arg)), &output, &is_varlena);
  const Oid element = get_element_type(conversion->resulttype);
  // The input function of a domain evaluates its CHECK, which may call anything.
  return find_value_type(element).has_value() && getBaseType(element) == element &&
         !is_changing(output, nullptr);
}

Look look_for_changing(Node* node) {
  if (IsA(node, SQLValueFunction)) {
    const bool is_of_time = as<SQLValueFunction>(node)->op <= SVFOP_LOCALTIMESTAMP_N;
    return is_of_time ? Look::kPast : Look::kFound;
  }
  if (IsA(node, NextValueExpr)) return Look::kFound;
  if (DPQ_IS_JSON_EXPRESSION(node)) {
    return contain_mutable_functions(node) ? Look::kFound : Look::kPast;
  }
  const bool changes =
      !is_text_to_array_of_values(node) && check_functions_in_node(node, is_changing, nullptr);
  return changes ? Look::kFound : Look::kBelow;
}

}  // namespace

bool calls_changing_functions(const Node* expression) {
  return search(expression, look_for_changing, kIntoQueries);
}

}  // namespace dpquantile
