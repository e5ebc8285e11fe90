#include "pg/protect/safe_answers.hpp"

#include <cmath>
#include <optional>

#include "pg/parameters/private_call.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/answer_call.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_aggregate_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/regproc.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_unsafe(const JudgedLevel* level, const Node* node, const char* what,
                                const char* hint) {
  refuse(level->statement->refused, exprLocation(node),
         psprintf("%s may fail for answers, when the query has been charged", what), hint);
}

Node* require_safe(const JudgedLevel* level, const Node* node, Expr* call) {
  if (call != nullptr) return as<Node>(call);
  refuse_unsafe(level, node, "an expression", "Have the owner of the extension update it.");
}

// ---- Functions -----------------------------------------------------------------------------

bool is_value_of_query(const Node* node) {
  switch (nodeTag(node)) {
    case T_Var:
    case T_Param:
    case T_Aggref:
    case T_WindowFunc:
    case T_GroupingFunc:
    case T_SubLink:
    case T_CaseTestExpr:
      return true;
    default:
      return false;
  }
}

// Whether the planner does not compute it before the query runs.
bool is_late(Node* node) {
  return any_node(node, is_value_of_query) || contain_mutable_functions(node);
}

// Whether it has the values of the query's parameters alone. A constant that fails does so while
// the query is planned, for nothing.
bool has_no_columns(Node* node) {
  return !any_node(
      node, [](const Node* below) { return !IsA(below, Param) && is_value_of_query(below); });
}

// Those of this extension that stand in a query by its own rewriting, such as of_answers(), and
// that the planner has something to say of, such as dp_error_of().
bool is_internal(Oid function) {
  return function >= FirstNormalObjectId &&
         (get_func_namespace(function) == get_namespace_oid("dpquantile", true) ||
          OidIsValid(get_func_support(function)));
}

// Equality and order do not fail, whatever they compare. The planner needs them as they are.
bool is_comparison(const Node* node) {
  if (!IsA(node, OpExpr) && !IsA(node, ScalarArrayOpExpr)) return false;
  const Oid operation =
      IsA(node, OpExpr) ? as<OpExpr>(node)->opno : as<ScalarArrayOpExpr>(node)->opno;
  return DPQ_PLACES_IN_ORDER(operation) != NIL;
}

// The variants of functions of numbers, dates and times take any values. Those of texts take short
// ones.
bool takes_any_value(const FunctionRule& variant) {
  if (variant.public_arguments != 0 || get_typlen(variant.result) < 0) {
    return variant.result == NUMERICOID;
  }
  for (int i = 0; i < number_of_arguments(variant); ++i) {
    const Oid type = variant.arguments[i];
    if (get_typlen(type) < 0 && type != NUMERICOID) return false;
  }
  return true;
}

Node* safe_call(const JudgedLevel* level, Node* node, Oid function) {
  complete_arguments(node);
  const List* arguments = arguments_of(node);
  if (is_total(function) || is_internal(function) || is_comparison(node) || arguments == NIL) {
    return node;
  }
  const FunctionRule* variant = find_variant(function);
  if (variant != nullptr && takes_any_value(*variant) &&
      list_length(arguments) == number_of_arguments(*variant)) {
    return require_safe(level, node, as<Expr>(call_of_variant(*variant, node, arguments)));
  }
  return require_safe(level, node, call_or_null_of(node));
}

bool gives_texts(Oid type) {
  return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

Node* safe_cast(const JudgedLevel* level, Node* node) {
  return gives_texts(as<CoerceViaIO>(node)->resulttype)
             ? node
             : require_safe(level, node, call_or_null_of(node));
}

// Rows in the place of one value: those of the extension's functions are rows of a curve or a
// histogram.
bool is_safe_series(Oid function) {
  const FunctionRule* rule = find_rule(function);
  return function >= FirstNormalObjectId || function == F_UNNEST_ANYARRAY ||
         function == F_GENERATE_SUBSCRIPTS_ANYARRAY_INT4 || (rule != nullptr && rule->is_series);
}

void check_set(const JudgedLevel* level, const Node* node, Oid function) {
  if (is_safe_series(function)) return;
  refuse_unsafe(level, node, psprintf("function %s", format_procedure(function)),
                "Ask the private aggregates first, and take their answers apart in a query of its "
                "own.");
}

// ---- Other nodes ---------------------------------------------------------------------------

bool is_one_limit(const Node* limit) {
  return limit != nullptr && IsA(limit, Const) && !as<Const>(limit)->constisnull &&
         DatumGetInt64(as<Const>(limit)->constvalue) <= 1;
}

// Whether it has at most one row, whatever it reads.
bool has_at_most_one_row(const Query* query) {
  if (query->hasTargetSRFs) return false;
  if (is_one_limit(query->limitCount)) return true;
  const bool is_one_group =
      query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL;
  return is_one_group || (query->jointree->fromlist == NIL && query->setOperations == nullptr);
}

// Two rows tell that there are several: a table that the role may read can have any number.
void stop_at_second_row(Query* query) {
  const bool reads_all = query->hasAggs || query->hasWindowFuncs || query->groupClause != NIL ||
                         query->groupingSets != NIL || query->distinctClause != NIL ||
                         query->setOperations != nullptr || query->limitCount != nullptr;
  if (reads_all) return;
  query->limitCount = as<Node>(
      makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(2), false, FLOAT8PASSBYVAL));
}

// A subquery with several rows fails where one value is asked for. An array of them does not.
Node* safe_subquery(const JudgedLevel* level, Node* node) {
  auto* link = as<SubLink>(node);
  if (link->subLinkType != EXPR_SUBLINK || has_at_most_one_row(as<Query>(link->subselect))) {
    return node;
  }
  const Oid type = exprType(node);
  if (OidIsValid(get_element_type(type)) || !OidIsValid(get_array_type(type))) {
    refuse_unsafe(level, node, "a subquery that may have several rows",
                  "Add LIMIT 1, or choose one by an aggregate.");
  }
  const Oid collation = exprCollation(node);
  stop_at_second_row(as<Query>(link->subselect));
  link->subLinkType = ARRAY_SUBLINK;
  return require_safe(level, node, only_element_of(node, type, collation));
}

void check_array(const JudgedLevel* level, const Node* node) {
  const auto* array = as<ArrayExpr>(node);
  if (!array->multidims) return;
  int length = -1;
  for (const auto* element : each<const Node>(array->elements)) {
    if (IsA(element, ArrayCoerceExpr)) element = as<Node>(as<ArrayCoerceExpr>(element)->arg);
    const int own = IsA(element, ArrayExpr) ? list_length(as<ArrayExpr>(element)->elements) : -1;
    if (own < 0 || (length >= 0 && own != length)) {
      refuse_unsafe(level, node, "an array of arrays", "Use an array of single values.");
    }
    length = own;
  }
}

void check_array_comparison(const JudgedLevel* level, const Node* node) {
  const Oid function = as<ScalarArrayOpExpr>(node)->opfuncid;
  if (is_total(function) || is_comparison(node)) return;
  refuse_unsafe(level, node,
                psprintf("operator %s", format_operator(as<ScalarArrayOpExpr>(node)->opno)),
                "Write x LIKE 'a%' OR x LIKE 'b%'.");
}

// An object has no NULL for a key.
Node* with_keys(Node* node) {
  auto* aggregate = as<Aggref>(node);
  const bool makes_object =
      aggregate->aggfnoid == F_JSON_OBJECT_AGG || aggregate->aggfnoid == F_JSONB_OBJECT_AGG;
  if (!makes_object) return node;
  NullTest* test = makeNode(NullTest);
  test->arg = static_cast<TargetEntry*>(linitial(aggregate->args))->expr;
  test->nulltesttype = IS_NOT_NULL;
  test->location = -1;
  auto* filter = as<Node>(aggregate->aggfilter);
  aggregate->aggfilter = as<Expr>(
      filter == nullptr ? as<Node>(test) : as<Node>(make_andclause(list_make2(filter, test))));
  return node;
}

// The power of two by which values may be multiplied that a sum of floating-point numbers adds. A
// sum of 2^60 numbers has 60 bits more than the largest, and one of squares is that of their
// squares. None: it does not fail.
std::optional<int> spare_bits_of_sum(Oid aggregate) {
  constexpr Oid kOfSquares[] = {
      F_AVG_FLOAT8,    F_VARIANCE_FLOAT8,    F_VAR_SAMP_FLOAT8,   F_VAR_POP_FLOAT8,
      F_STDDEV_FLOAT8, F_STDDEV_SAMP_FLOAT8, F_STDDEV_POP_FLOAT8, F_CORR,
      F_COVAR_POP,     F_COVAR_SAMP,         F_REGR_SLOPE,        F_REGR_INTERCEPT,
      F_REGR_R2,       F_REGR_SXX,           F_REGR_SYY,          F_REGR_SXY,
      F_REGR_AVGX,     F_REGR_AVGY};
  if (aggregate == F_SUM_FLOAT8 || aggregate == F_SUM_FLOAT4) return 60;
  for (const Oid oid : kOfSquares) {
    if (oid == aggregate) return 640;
  }
  return std::nullopt;
}

// The value itself, or NULL if it is so large that a sum of such values would overflow: the product
// with a power of two is exact unless it overflows.
Node* summable_value(const JudgedLevel* level, Node* value, int spare_bits) {
  const Oid type = exprType(value);
  const bool is_single = type == FLOAT4OID;
  const double factor = std::ldexp(1.0, spare_bits);
  const auto constant = [&] {
    return makeConst(
        type, -1, InvalidOid, is_single ? sizeof(float4) : sizeof(float8),
        is_single ? Float4GetDatum(static_cast<float4>(factor)) : Float8GetDatum(factor), false,
        is_single || FLOAT8PASSBYVAL);
  };
  const auto call = [&](Oid function, Node* argument) {
    return as<Node>(makeFuncExpr(function, type, list_make2(argument, constant()), InvalidOid,
                                 InvalidOid, COERCE_EXPLICIT_CALL));
  };
  const Oid product = is_single ? F_FLOAT4MUL : F_FLOAT8MUL;
  return call(is_single ? F_FLOAT4DIV : F_FLOAT8DIV,
              safe_call(level, call(product, value), product));
}

// Sums without values that would make them overflow. Their order may be that of other values.
Node* with_summable_values(const JudgedLevel* level, Node* node) {
  const bool is_window = IsA(node, WindowFunc);
  const auto bits =
      spare_bits_of_sum(is_window ? as<WindowFunc>(node)->winfnoid : as<Aggref>(node)->aggfnoid);
  if (!bits) return node;
  ListCell* cell;
  foreach (cell, is_window ? as<WindowFunc>(node)->args : as<Aggref>(node)->args) {
    if (is_window) {
      lfirst(cell) = summable_value(level, static_cast<Node*>(lfirst(cell)), *bits);
    } else {
      auto* entry = static_cast<TargetEntry*>(lfirst(cell));
      if (entry->resjunk) continue;
      entry->expr = as<Expr>(summable_value(level, as<Node>(entry->expr), *bits));
    }
  }
  return node;
}

bool is_fraction(double number) {
  return number >= 0 && number <= 1;
}

// Whether the fractions of a percentile are constants within [0, 1]. An array has several.
bool has_known_fractions(const Const* fractions) {
  if (fractions->constisnull) return true;
  if (fractions->consttype == FLOAT8OID) return is_fraction(DatumGetFloat8(fractions->constvalue));
  Datum* values;
  bool* nulls;
  int count;
  deconstruct_array(DatumGetArrayTypeP(fractions->constvalue), FLOAT8OID, sizeof(float8),
                    FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, &count);
  for (int i = 0; i < count; ++i) {
    if (!nulls[i] && !is_fraction(DatumGetFloat8(values[i]))) return false;
  }
  return true;
}

void check_fractions(const JudgedLevel* level, const Aggref* call) {
  if (call->aggkind != AGGKIND_ORDERED_SET || call->aggfnoid >= FirstNormalObjectId) return;
  for (const auto* written : each<const Node>(call->aggdirectargs)) {
    const Node* fractions = as_planned(level->statement, written);
    if (IsA(fractions, Param)) continue;
    if (IsA(fractions, Const) && has_known_fractions(as<Const>(fractions))) continue;
    refuse_unsafe(level, as<Node>(call), psprintf("function %s", format_procedure(call->aggfnoid)),
                  "Write its fractions as literals from 0 to 1.");
  }
}

// Aggregates of values that must have one length
void check_lengths(const JudgedLevel* level, const Node* node, Oid aggregate) {
  const bool is_of_bits =
      aggregate == F_BIT_AND_BIT || aggregate == F_BIT_OR_BIT || aggregate == F_BIT_XOR_BIT;
  if (!is_of_bits && aggregate != F_ARRAY_AGG_ANYARRAY) return;
  refuse_unsafe(level, node, psprintf("function %s", format_procedure(aggregate)),
                is_of_bits ? "Bit strings of one length only go with each other. Cast to bigint."
                           : "Arrays of one length only make an array. Ask jsonb_agg.");
}

Node* safe_aggregate(const JudgedLevel* level, Node* node) {
  const auto* call = as<Aggref>(node);
  check_lengths(level, node, call->aggfnoid);
  check_fractions(level, call);
  return with_keys(with_summable_values(level, node));
}

void check_window_function(const JudgedLevel* level, const Node* node) {
  const auto* call = as<WindowFunc>(node);
  check_lengths(level, node, call->winfnoid);
  const int number = call->winfnoid == F_NTILE ? 0 : call->winfnoid == F_NTH_VALUE ? 1 : -1;
  if (number < 0) return;
  const Node* count =
      as_planned(level->statement, static_cast<Node*>(list_nth(call->args, number)));
  const bool is_safe =
      IsA(count, Param) || (IsA(count, Const) && (as<Const>(count)->constisnull ||
                                                  DatumGetInt32(as<Const>(count)->constvalue) > 0));
  if (is_safe) return;
  refuse_unsafe(level, node, psprintf("function %s", format_procedure(call->winfnoid)),
                "Write the number as a literal above 0.");
}

// ---- Expressions ---------------------------------------------------------------------------

// The node with arguments that do not fail.
Node* safe_node(const JudgedLevel* level, Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr:
      if (as<FuncExpr>(node)->funcretset) {
        check_set(level, node, as<FuncExpr>(node)->funcid);
        return node;
      }
      return safe_call(level, node, as<FuncExpr>(node)->funcid);
    case T_OpExpr:
      set_opfuncid(as<OpExpr>(node));
      if (as<OpExpr>(node)->opretset) {
        check_set(level, node, as<OpExpr>(node)->opfuncid);
        return node;
      }
      return safe_call(level, node, as<OpExpr>(node)->opfuncid);
    case T_CoerceViaIO:
      return safe_cast(level, node);
    case T_CoerceToDomain:
      refuse_unsafe(level, node, "a cast to a domain", "Cast to the domain's base type.");
    case T_ScalarArrayOpExpr:
      set_sa_opfuncid(as<ScalarArrayOpExpr>(node));
      check_array_comparison(level, node);
      return node;
    case T_ArrayExpr:
      check_array(level, node);
      return node;
    case T_SubLink:
      return safe_subquery(level, node);
    case T_Aggref:
      return safe_aggregate(level, node);
    case T_WindowFunc:
      check_window_function(level, node);
      return with_summable_values(level, node);
    default:
      return node;
  }
}

// Whether a node is a part of a query or of an expression, and has no value itself.
bool is_part(const Node* node) {
  switch (nodeTag(node)) {
    case T_List:
    case T_CaseWhen:
    case T_TargetEntry:
    case T_FromExpr:
    case T_JoinExpr:
    case T_RangeTblRef:
    case T_RangeTblFunction:
    case T_SortGroupClause:
    case T_Query:
      return true;
    default:
      return false;
  }
}

// A value of a parameter that fails does so when the query is planned, for nothing. `is_known` says
// that this has been seen to.
Node* safe_tree(const JudgedLevel* level, Node* expression, bool is_known) {
  if (expression == nullptr || private_family(expression) != nullptr) return expression;
  if (!is_known && !is_part(expression) && has_no_columns(expression)) {
    (void)as_planned(level->statement, expression);
    is_known = true;
  }
  Node* copy =
      with_children(expression, [&](Node* child) { return safe_tree(level, child, is_known); });
  return is_part(copy) || !is_late(copy) ? copy : safe_node(level, copy);
}

// ---- Levels --------------------------------------------------------------------------------

// Makes a part of a query safe. Private aggregates stay as they are, and so do subqueries: they are
// levels of their own.
template <class Part>
void make_part_safe(const JudgedLevel* level, Part** part) {
  *part = as<Part>(safe_tree(level, as<Node>(*part), false));
}

// LIMIT and OFFSET, and ROWS and GROUPS of windows. One below 0 is 0.
Node* with_safe_number(const JudgedLevel* level, Node* number) {
  if (number == nullptr || exprType(number) != INT8OID) return safe_tree(level, number, false);
  const Node* known = as_planned(level->statement, number);
  if (IsA(known, Const)) {
    const auto* constant = as<Const>(known);
    if (constant->constisnull || DatumGetInt64(constant->constvalue) >= 0) return number;
    refuse_unsafe(level, number, "a negative number of rows",
                  "Write a number that is not negative.");
  }
  // The number is there once: a subquery in it would be charged for each.
  Const* zero = makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, true);
  FuncExpr* larger =
      makeFuncExpr(F_INT8LARGER, INT8OID, list_make2(safe_tree(level, number, false), zero),
                   InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
  larger->location = exprLocation(number);
  return as<Node>(larger);
}

// PostgreSQL finds the columns of a function in FROM by the function, which stays. One of one value
// has a column anyway.
void make_function_safe(const JudgedLevel* level, RangeTblFunction* function) {
  Node* call = function->funcexpr;
  if (!IsA(call, FuncExpr) ||
      (!as<FuncExpr>(call)->funcretset && !type_is_rowtype(exprType(call)))) {
    return make_part_safe(level, &function->funcexpr);
  }
  if (!has_no_columns(call)) check_set(level, call, as<FuncExpr>(call)->funcid);
  make_part_safe(level, &as<FuncExpr>(call)->args);
}

void make_entry_safe(const JudgedLevel* level, RangeTblEntry* entry) {
  if (entry->rtekind == RTE_FUNCTION) {
    for (auto* function : each<RangeTblFunction>(entry->functions)) {
      make_function_safe(level, function);
    }
  }
  if (entry->rtekind == RTE_VALUES) make_part_safe(level, &entry->values_lists);
}

// Whether a constant is NULL, NaN or less than zero, in the order of its type.
bool is_no_distance(const Const* offset) {
  if (offset->constisnull) return true;
  if (offset->consttype == FLOAT8OID && std::isnan(DatumGetFloat8(offset->constvalue))) return true;
  if (offset->consttype == NUMERICOID && numeric_is_nan(DatumGetNumeric(offset->constvalue))) {
    return true;
  }
  const TypeCacheEntry* type = lookup_type_cache(offset->consttype, TYPECACHE_CMP_PROC_FINFO);
  if (!OidIsValid(type->cmp_proc_finfo.fn_oid)) return true;
  Oid input;
  Oid parameter;
  getTypeInputInfo(offset->consttype, &input, &parameter);
  const Datum zero = OidInputFunctionCall(input, pstrdup("0"), parameter, -1);
  return DatumGetInt32(FunctionCall2Coll(const_cast<FmgrInfo*>(&type->cmp_proc_finfo), InvalidOid,
                                         offset->constvalue, zero)) < 0;
}

// A distance of times: a time that is farther away may be none. One of 10000 years may be added to
// the times that people have.
bool is_too_far(const Const* offset) {
  if (offset->constisnull || offset->consttype != INTERVALOID) return false;
  const auto* distance = DatumGetIntervalP(offset->constvalue);
  constexpr int kMostMonths = 10000 * MONTHS_PER_YEAR;
  constexpr int kMostDays = 10000 * 366;
  return distance->month > kMostMonths || distance->day > kMostDays ||
         distance->time > kMostDays * USECS_PER_DAY;
}

// The offset of a frame: a number of rows or groups, or a distance of keys. NULL and less than 0
// fail when the first row is reached.
Node* with_safe_offset(const JudgedLevel* level, const WindowClause* window, Node* offset) {
  if (offset == nullptr) return nullptr;
  const Node* known = as_planned(level->statement, offset);
  const bool is_safe =
      IsA(known, Param) ||
      (IsA(known, Const) && !is_no_distance(as<Const>(known)) && !is_too_far(as<Const>(known)));
  if (is_safe) return offset;
  if (IsA(known, Const) || (window->frameOptions & FRAMEOPTION_RANGE) != 0) {
    refuse_unsafe(level, offset, "the offset of a frame",
                  "Write a literal that is neither NULL nor negative, and at most 10000 years.");
  }
  CoalesceExpr* number = makeNode(CoalesceExpr);
  number->coalescetype = INT8OID;
  Const* zero =
      makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, FLOAT8PASSBYVAL);
  number->args = list_make2(with_safe_number(level, offset), zero);
  number->location = exprLocation(offset);
  return as<Node>(number);
}

void make_windows_safe(const JudgedLevel* level) {
  for (auto* window : each<WindowClause>(level->query->windowClause)) {
    window->startOffset = with_safe_offset(level, window, window->startOffset);
    window->endOffset = with_safe_offset(level, window, window->endOffset);
  }
}

// Whether an expression of the level may depend on an answer, or is computed after a charge of the
// query.
bool sees_answers(const JudgedLevel* level) {
  if (level->type == RelationType::kAnswers) return true;
  if (level->read->outer_values > 0 || level->read->outer_ctes > 0) return true;
  for (const auto* entry : each<const RangeTblEntry>(level->query->rtable)) {
    if (entry->rtekind == RTE_CTE) return true;
  }
  return false;
}

}  // namespace

void make_answers_safe(JudgedLevel* level) {
  Query* query = level->query;
  make_part_safe(level, &query->targetList);
  make_part_safe(level, &query->havingQual);
  query->limitCount = with_safe_number(level, query->limitCount);
  query->limitOffset = with_safe_number(level, query->limitOffset);
  make_windows_safe(level);
}

Node* safe_expression(const JudgedLevel* level, Node* expression) {
  return safe_tree(level, expression, false);
}

void make_outer_query_safe(JudgedLevel* level) {
  if (!sees_answers(level)) return;
  make_answers_safe(level);
  make_part_safe(level, &level->query->jointree);
  for (auto* entry : each<RangeTblEntry>(level->query->rtable)) make_entry_safe(level, entry);
}

}  // namespace dpquantile
