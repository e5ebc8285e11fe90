#include "pg/plain/evaluated_key.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/plain/time_formats.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// These stable functions depend on the time zone, and on nothing else outside of their arguments;
// the texts of times on the style of dates, too.
constexpr char kOfTimeZone[] =
    "date_trunc timezone date timestamp timestamptz extract date_part date_bin to_timestamp "
    "to_date timestamptz_pl_interval timestamptz_mi_interval date_out timestamp_out "
    "timestamptz_out";

Oid language_of(Oid function) {
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return InvalidOid;
  const Oid language = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->prolang;
  ReleaseSysCache(row);
  return language;
}

// round(x) and trunc(x) of a numeric are queries for the function with digits, which this returns;
// InvalidOid for others.
Oid function_with_digits(Oid function) {
  if (function == F_ROUND_NUMERIC) return F_ROUND_NUMERIC_INT4;
  return function == F_TRUNC_NUMERIC ? F_TRUNC_NUMERIC_INT4 : InvalidOid;
}

// For check_functions_in_node(): whether the function cannot be called while planning.
bool is_other_function(Oid function, void*) {
  if (function >= FirstUnpinnedObjectId) return true;
  if (OidIsValid(function_with_digits(function)) || function == F_DATE_PART_TEXT_DATE) return false;
  // An error in a function that is a query would leave a snapshot.
  if (language_of(function) != INTERNALlanguageId) return true;
  const char volatility = func_volatile(function);
  return volatility == PROVOLATILE_VOLATILE ||
         (volatility == PROVOLATILE_STABLE && !is_one_of(get_func_name(function), kOfTimeZone));
}

bool is_written_always_alike(const Node* value) {
  switch (getBaseType(exprType(value))) {
    case BOOLOID:
    case CHAROID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case NUMERICOID:
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
    case NAMEOID:
    case UUIDOID:
    case OIDOID:
    case TIMEOID:
    case TIMETZOID:
    case INETOID:
    case CIDROID:
    case MACADDROID:
    case MACADDR8OID:
    case BITOID:
    case VARBITOID:
    case JSONOID:
    case JSONBOID:
    case UNKNOWNOID:
      return true;
    default:
      return get_typtype(getBaseType(exprType(value))) == TYPTYPE_ENUM;
  }
}

// concat() and concat_ws() depend on settings where they write values of other types, such as
// dates.
bool is_concatenation(const Node* node) {
  if (!IsA(node, FuncExpr) || as<FuncExpr>(node)->funcvariadic) return false;
  const auto* call = as<FuncExpr>(node);
  if (call->funcid != F_CONCAT && call->funcid != F_CONCAT_WS) return false;
  for (const auto* value : each<const Node>(call->args)) {
    if (!is_written_always_alike(value)) return false;
  }
  return true;
}

// Whether a node is the text of a date or time that PostgreSQL writes by itself.
bool writes_time(const Node* node) {
  if (!IsA(node, CoerceViaIO)) return false;
  const Oid type = exprType(as<Node>(as<CoerceViaIO>(node)->arg));
  return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

// Whether a node is a text whose form follows a setting that no plan notices, as that of a float8
// does, which PostgreSQL calls immutable.
bool is_written_by_settings(const Node* node) {
  return IsA(node, CoerceViaIO) && !writes_time(node) &&
         !is_written_always_alike(as<Node>(as<CoerceViaIO>(node)->arg));
}

bool is_known_node(const Node* node) {
  switch (nodeTag(node)) {
    case T_Const:
    case T_FuncExpr:
    case T_OpExpr:
    case T_RelabelType:
    case T_CoerceViaIO:
    case T_CoalesceExpr:
    case T_MinMaxExpr:
    case T_NullIfExpr:
    case T_BoolExpr:
    case T_NullTest:
    case T_BooleanTest:
    case T_CaseExpr:
    case T_CaseWhen:
    case T_CaseTestExpr:
    case T_ScalarArrayOpExpr:
    case T_ArrayExpr:
    case T_DistinctExpr:
    case T_List:
      return true;
    default:
      return false;
  }
}

// repeat(), rpad() and the like, for a text that a list may not have
bool may_give_long_text(const FunctionRule& rule, const Node* call) {
  if (rule.size != AnswerSize::kRepeated && rule.size != AnswerSize::kFilled) return false;
  const auto* count = static_cast<const Const*>(lsecond(arguments_of(call)));
  return !IsA(count, Const) || count->constisnull ||
         DatumGetInt32(count->constvalue) > static_cast<int>(kMaxValueBytes);
}

// A function that no rule lets rows have is not computed for the values of lists either: it may
// take any time.
bool is_of_no_rows(const Node* node) {
  if (!IsA(node, FuncExpr) && !IsA(node, OpExpr)) return false;
  const FunctionRule* rule = find_rule(function_of(node));
  return rule == nullptr ? !is_concatenation(node) : may_give_long_text(*rule, node);
}

bool names_one_of(Node* node, const List* parts) {
  return any_node(node, [=](const Node* inner) { return list_member(parts, inner); });
}

bool has_unknown_part(const Node* expression, const List* parts) {
  return search(expression, [&](Node* node) {
    if (list_member(parts, node)) return Look::kPast;
    if (is_of_no_rows(node) && names_one_of(node, parts)) return Look::kFound;
    const bool is_known = is_known_node(node) && !is_written_by_settings(node) &&
                          (unit_of_formatted_moment(node) != nullptr || is_concatenation(node) ||
                           !check_functions_in_node(node, is_other_function, nullptr));
    return is_known ? Look::kBelow : Look::kFound;
  });
}

// A parameter in the place of each part.
Node* with_parameters(const Node* expression, const List* parts) {
  return mapped(const_cast<Node*>(expression), [=](const Node* node) -> Node* {
    int number = 0;
    for (const auto* part : each<const Node>(parts)) {
      ++number;
      if (!equal(node, part)) continue;
      Param* parameter = makeNode(Param);
      parameter->paramkind = PARAM_EXTERN;
      parameter->paramid = number;
      parameter->paramtype = exprType(part);
      parameter->paramtypmod = exprTypmod(part);
      parameter->paramcollid = exprCollation(part);
      parameter->location = -1;
      return as<Node>(parameter);
    }
    const auto* call = as<FuncExpr>(node);
    // It is a query for the same part of the moment when the date begins.
    if (IsA(node, FuncExpr) && call->funcid == F_DATE_PART_TEXT_DATE) {
      Node* date = with_parameters(static_cast<const Node*>(lsecond(call->args)), parts);
      Node* moment = as<Node>(makeFuncExpr(F_TIMESTAMP_DATE, TIMESTAMPOID, list_make1(date),
                                           InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST));
      return as<Node>(makeFuncExpr(F_DATE_PART_TEXT_TIMESTAMP, FLOAT8OID,
                                   list_make2(copyObjectImpl(linitial(call->args)), moment),
                                   InvalidOid, call->inputcollid, COERCE_EXPLICIT_CALL));
    }
    const Oid with_digits = IsA(node, FuncExpr) ? function_with_digits(call->funcid) : InvalidOid;
    if (!OidIsValid(with_digits)) return nullptr;
    Node* argument = with_parameters(static_cast<const Node*>(linitial(call->args)), parts);
    Const* digits =
        makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
    return as<Node>(makeFuncExpr(with_digits, NUMERICOID, list_make2(argument, digits), InvalidOid,
                                 InvalidOid, COERCE_EXPLICIT_CALL));
  });
}

ParamListInfo values_of_parts(const List* parts) {
  ParamListInfo values = makeParamList(list_length(parts));
  const ListCell* cell;
  foreach (cell, parts) {
    ParamExternData* value = &values->params[foreach_current_index(cell)];
    *value = {};
    value->isnull = true;
    value->ptype = exprType(static_cast<const Node*>(lfirst(cell)));
  }
  return values;
}

struct Order {
  FmgrInfo* compare;
  Oid collation;
};

int compare_values(const ListCell* left, const ListCell* right, const Order& order) {
  return DatumGetInt32(FunctionCall2Coll(order.compare, order.collation,
                                         static_cast<const Const*>(lfirst(left))->constvalue,
                                         static_cast<const Const*>(lfirst(right))->constvalue));
}

}  // namespace

bool can_be_evaluated(const Node* expression, const List* parts) {
  return !expression_returns_set(const_cast<Node*>(expression)) &&
         !has_unknown_part(expression, parts);
}

namespace {

// PostgreSQL may compile a regular expression for each call, and takes long for powers of numerics.
double calls_of(const Node* node) {
  if (IsA(node, ScalarArrayOpExpr)) return 100;
  if (!IsA(node, FuncExpr) && !IsA(node, OpExpr)) return 1;
  switch (time_of_function(function_of(node))) {
    case CallTime::kRegex:
      return 300;
    case CallTime::kSeries:
      return 3000;
    default:
      return 1;
  }
}

PreparedExpression prepare(Node* whole, const List* parts) {
  visit_nodes(whole, complete_arguments);
  PreparedExpression prepared{};
  visit_nodes(whole, [&](const Node* node) { prepared.calls += calls_of(node); });
  prepared.expression = as<Expr>(whole);
  prepared.values = values_of_parts(parts);
  prepared.state = ExecInitExprWithParams(prepared.expression, prepared.values);
  prepared.context = CreateStandaloneExprContext();
  prepared.context->ecxt_param_list_info = prepared.values;
  prepared.empty_bytes = MemoryContextMemAllocated(prepared.context->ecxt_per_tuple_memory, true);
  return prepared;
}

// Beside concatenations, what is not immutable is a function of times.
bool depends_on_time_zone(Node* expression) {
  return any_node(expression, [](Node* node) {
    return !is_concatenation(node) &&
           check_functions_in_node(
               node,
               [](Oid function, void*) { return func_volatile(function) != PROVOLATILE_IMMUTABLE; },
               nullptr);
  });
}

}  // namespace

PreparedExpression prepare_expression(const Level* level, const Node* expression,
                                      const List* parts) {
  Node* whole = with_parameters(expression, parts);
  if (depends_on_time_zone(whole)) level->statement->has_values_of_time_zone = true;
  if (any_node(whole, writes_time)) level->statement->has_values_of_date_style = true;
  PreparedExpression prepared = prepare(whole, parts);
  prepared.statement = level->statement;
  return prepared;
}

namespace {

// A few seconds.
constexpr double kMostCalls = 2e7;

void add_calls(Statement* statement, double calls) {
  statement->computed_calls += calls;
  if (statement->computed_calls <= kMostCalls) return;
  ereport(ERROR,
          (errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
           errmsg("the query computes too much for lists of its keys"),
           errdetail("Keys of GROUP BY, and conditions on them, are computed for each value of "
                     "their lists before the query is asked. This call was not charged."),
           errhint("Compute simpler keys, or group by fewer, or by those with shorter lists.")));
}

// What a computation has written, which the next one forgets, counts, too.
void count_calls(const PreparedExpression& prepared) {
  if (prepared.statement == nullptr) return;
  constexpr double kBytesOfCall = 64;
  const Size bytes = MemoryContextMemAllocated(prepared.context->ecxt_per_tuple_memory, true) -
                     prepared.empty_bytes;
  add_calls(prepared.statement, prepared.calls + static_cast<double>(bytes) / kBytesOfCall);
}

}  // namespace

// A million of them is the most.
void count_kept_values(Statement* statement, double values) {
  constexpr double kCallsOfKeptValue = kMostCalls / 1e6;
  add_calls(statement, values * kCallsOfKeptValue);
}

// Only functions of PostgreSQL's own are called, which change nothing that an error would leave.
NullableDatum compute(const PreparedExpression& prepared, const List* values) {
  CHECK_FOR_INTERRUPTS();
  const ListCell* cell;
  foreach (cell, values) {
    const auto* value = static_cast<const Const*>(lfirst(cell));
    ParamExternData* parameter = &prepared.values->params[foreach_current_index(cell)];
    parameter->value = value->constvalue;
    parameter->isnull = value->constisnull;
  }
  ResetExprContext(prepared.context);
  const MemoryContext context = CurrentMemoryContext;
  volatile Datum computed = 0;
  volatile bool is_null = true;
  PG_TRY();
  {
    bool has_none;
    computed = ExecEvalExprSwitchContext(prepared.state, prepared.context, &has_none);
    is_null = has_none;
  }
  PG_CATCH();
  {
    const int code = geterrcode();
    const bool is_of_values = ERRCODE_TO_CATEGORY(code) == ERRCODE_DATA_EXCEPTION;
    if (!is_of_values) PG_RE_THROW();
    MemoryContextSwitchTo(context);
    FlushErrorState();
  }
  PG_END_TRY();
  count_calls(prepared);
  return {computed, is_null};
}

Node* with_part(const Node* expression, const Node* part, const Node* other) {
  return mapped(const_cast<Node*>(expression), [&](Node* node) {
    return equal(node, part) ? static_cast<Node*>(copyObjectImpl(other)) : nullptr;
  });
}

Node* counterpart(const List* nodes, const List* others, const Node* node) {
  const ListCell* cell;
  foreach (cell, nodes) {
    if (!equal(lfirst(cell), node)) continue;
    return static_cast<Node*>(copyObjectImpl(list_nth(others, foreach_current_index(cell))));
  }
  return nullptr;
}

namespace {

// 0 for -0, which equals it: of the two one is shown.
Datum without_negative_zero(Oid type, Datum value) {
  if (type == FLOAT8OID) return Float8GetDatum(DatumGetFloat8(value) + 0.0);
  return type == FLOAT4OID ? Float4GetDatum(DatumGetFloat4(value) + 0.0F) : value;
}

// The value as a constant; null if it is NULL or fails.
Const* constant_of(const PreparedExpression& prepared, const List* values) {
  NullableDatum computed = compute(prepared, values);
  if (computed.isnull) return nullptr;
  const auto* expression = as<Node>(prepared.expression);
  const Oid type = exprType(expression);
  computed.value = without_negative_zero(type, computed.value);
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  const Datum copy = length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(computed.value))
                                  : datumCopy(computed.value, by_value, length);
  return makeConst(type, exprTypmod(expression), exprCollation(expression), length, copy, false,
                   by_value);
}

}  // namespace

Const* computed_constant(const PreparedExpression& prepared, const List* values) {
  Const* value = constant_of(prepared, values);
  return value != nullptr ? value : null_like(as<Node>(prepared.expression));
}

Const* evaluated(const Level* level, const Node* expression, const Node* inner,
                 const Const* value) {
  const List* parts = inner == nullptr ? NIL : list_make1(const_cast<Node*>(inner));
  const List* values = inner == nullptr ? NIL : list_make1(const_cast<Const*>(value));
  const PreparedExpression prepared = prepare_expression(level, expression, parts);
  Const* value_of_whole = constant_of(prepared, values);
  FreeExprContext(prepared.context, true);
  return value_of_whole;
}

Node* folded(const Node* expression, ParamListInfo parameters) {
  PlannerGlobal* global = makeNode(PlannerGlobal);
  global->boundParams = parameters;
  PlannerInfo* root = makeNode(PlannerInfo);
  root->glob = global;
  return eval_const_expressions(root, static_cast<Node*>(copyObjectImpl(expression)));
}

bool has_known_value(const Level* level, const Node* expression) {
  return can_be_evaluated(expression, NIL) &&
         evaluated(level, expression, nullptr, nullptr) != nullptr;
}

List* different_values(List* values, const Node* expression) {
  const TypeCacheEntry* type =
      lookup_type_cache(exprType(expression), TYPECACHE_CMP_PROC_FINFO | TYPECACHE_CMP_PROC);
  if (!OidIsValid(type->cmp_proc)) return NIL;
  static Order order;
  order = {const_cast<FmgrInfo*>(&type->cmp_proc_finfo), exprCollation(expression)};
  list_sort(values, [](const ListCell* left, const ListCell* right) {
    return compare_values(left, right, order);
  });
  List* different = NIL;
  for (int i = 0; i < list_length(values); ++i) {
    if (i > 0 &&
        compare_values(list_nth_cell(values, i - 1), list_nth_cell(values, i), order) == 0) {
      continue;
    }
    different = lappend(different, list_nth(values, i));
  }
  return different;
}

namespace {

// NULLs come last.
int compare_constants(const Const* left, const Const* right, const Order& order) {
  if (left->constisnull || right->constisnull) {
    return static_cast<int>(left->constisnull) - static_cast<int>(right->constisnull);
  }
  return DatumGetInt32(
      FunctionCall2Coll(order.compare, order.collation, left->constvalue, right->constvalue));
}

int compare_rows(const ListCell* left, const ListCell* right, const Order* orders) {
  const auto* rest = static_cast<const List*>(lfirst(right));
  const ListCell* cell;
  foreach (cell, static_cast<const List*>(lfirst(left))) {
    const int column = foreach_current_index(cell);
    const int order =
        compare_constants(static_cast<const Const*>(lfirst(cell)),
                          static_cast<const Const*>(list_nth(rest, column)), orders[column]);
    if (order != 0) return order;
  }
  return 0;
}

}  // namespace

List* different_rows(List* rows, const List* expressions) {
  static Order* orders;
  orders =
      static_cast<Order*>(palloc(static_cast<Size>(list_length(expressions) + 1) * sizeof(Order)));
  const ListCell* cell;
  foreach (cell, expressions) {
    const auto* expression = static_cast<const Node*>(lfirst(cell));
    TypeCacheEntry* type = lookup_type_cache(exprType(expression), TYPECACHE_CMP_PROC_FINFO);
    orders[foreach_current_index(cell)] = {&type->cmp_proc_finfo, exprCollation(expression)};
  }
  list_sort(rows, [](const ListCell* left, const ListCell* right) {
    return compare_rows(left, right, orders);
  });
  List* different = NIL;
  for (int i = 0; i < list_length(rows); ++i) {
    const ListCell* row = list_nth_cell(rows, i);
    if (i > 0 && compare_rows(list_nth_cell(rows, i - 1), row, orders) == 0) continue;
    different = lappend(different, lfirst(row));
  }
  return different;
}

namespace {

// The equal one of different values in their order; null if there is none.
Const* value_in_list(const List* values, const Const* value, const Order& order) {
  int first = 0;
  int last = list_length(values) - 1;
  while (first <= last) {
    const int middle = (first + last) / 2;
    auto* found = static_cast<Const*>(list_nth(values, middle));
    const int comparison = compare_constants(value, found, order);
    if (comparison == 0) return found;
    if (comparison < 0) {
      last = middle - 1;
    } else {
      first = middle + 1;
    }
  }
  return nullptr;
}

}  // namespace

List* rows_in_lists(const List* rows, const List* expressions, const List* lists) {
  List* found = NIL;
  for (const auto* row : each<const List>(rows)) {
    CHECK_FOR_INTERRUPTS();
    List* listed = NIL;
    const ListCell* cell;
    foreach (cell, row) {
      const int column = foreach_current_index(cell);
      const auto* expression = static_cast<const Node*>(list_nth(expressions, column));
      TypeCacheEntry* type = lookup_type_cache(exprType(expression), TYPECACHE_CMP_PROC_FINFO);
      Const* value = value_in_list(static_cast<const List*>(list_nth(lists, column)),
                                   static_cast<const Const*>(lfirst(cell)),
                                   {&type->cmp_proc_finfo, exprCollation(expression)});
      if (value != nullptr) listed = lappend(listed, value);
    }
    if (list_length(listed) == list_length(row)) found = lappend(found, listed);
  }
  return found;
}

Const* as_stored(const Node* column, const Const* value) {
  auto* kept = static_cast<Const*>(copyObjectImpl(value));
  if (value->consttype >= FirstUnpinnedObjectId) return kept;
  auto* given = static_cast<Const*>(copyObjectImpl(value));
  given->consttypmod = -1;
  Node* cast =
      coerce_to_target_type(nullptr, as<Node>(given), value->consttype, value->consttype,
                            exprTypmod(column), COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);
  if (cast == nullptr || cast == as<Node>(given)) return kept;
  const PreparedExpression prepared = prepare(cast, NIL);
  const Const* stored = constant_of(prepared, NIL);
  FreeExprContext(prepared.context, true);
  if (stored == nullptr) return kept;
  const List* both = list_make2(const_cast<Const*>(stored), kept);
  if (list_length(different_values(const_cast<List*>(both), column)) != 1) return kept;
  kept->constvalue = stored->constvalue;
  return kept;
}

bool has_null(const List* values) {
  for (const auto* constant : each<const Const>(values)) {
    if (constant->constisnull) return true;
  }
  return false;
}

Const* null_like(const Node* expression) {
  return makeNullConst(exprType(expression), exprTypmod(expression), exprCollation(expression));
}

namespace {

// Values that are computed for a list, as long as they are not longer than one may have.
class ListedValues {
 public:
  // False, and forgets them, if they are.
  bool add(Const* value) {
    if (value->constlen == -1) bytes_ += toast_raw_datum_size(value->constvalue);
    const bool is_long =
        bytes_ > kMostListedBytes || is_too_large(value->constvalue, value->consttype);
    if (is_long)
      values_ = NIL;
    else
      values_ = lappend(values_, value);
    return !is_long;
  }
  List* different(const Node* expression) { return different_values(values_, expression); }

 private:
  List* values_ = NIL;
  Size bytes_ = 0;
};

}  // namespace

List* evaluated_list(const Level* level, const Node* expression, const Node* inner,
                     const List* values, bool* gives_null) {
  const List* parts = list_make1(const_cast<Node*>(inner));
  if (!can_be_evaluated(expression, parts)) return NIL;
  const PreparedExpression prepared = prepare_expression(level, expression, parts);
  ListedValues computed;
  List* part = list_make1(nullptr);
  for (auto* constant : each<Const>(values)) {
    linitial(part) = constant;
    Const* value = constant_of(prepared, part);
    *gives_null |= value == nullptr && !constant->constisnull;
    if (value != nullptr && !computed.add(value)) break;
  }
  FreeExprContext(prepared.context, true);
  return computed.different(expression);
}

List* evaluated_rows(const Level* level, const List* expressions, const Node* inner,
                     const List* values) {
  const List* parts = list_make1(const_cast<Node*>(inner));
  List* prepared = NIL;
  for (const auto* expression : each<const Node>(expressions)) {
    if (!can_be_evaluated(expression, parts)) return NIL;
    auto* made = static_cast<PreparedExpression*>(palloc(sizeof(PreparedExpression)));
    *made = prepare_expression(level, expression, parts);
    prepared = lappend(prepared, made);
  }
  List* rows = NIL;
  List* part = list_make1(nullptr);
  for (auto* value : each<Const>(values)) {
    linitial(part) = value;
    List* row = NIL;
    for (const auto* expression : each<const PreparedExpression>(prepared)) {
      row = lappend(row, computed_constant(*expression, part));
    }
    rows = lappend(rows, row);
  }
  return different_rows(rows, expressions);
}

List* evaluated_combinations(const Level* level, const Node* expression, const List* parts,
                             const List* lists) {
  const PreparedExpression prepared = prepare_expression(level, expression, parts);
  List* rows = list_make1(NIL);
  for (const auto* values : each<const List>(lists)) {
    List* longer = NIL;
    for (const auto* row : each<const List>(rows)) {
      for (auto* value : each<Const>(values))
        longer = lappend(longer, lappend(list_copy(row), value));
    }
    rows = longer;
  }
  ListedValues listed;
  bool gives_null = false;
  for (const auto* row : each<const List>(rows)) {
    Const* value = constant_of(prepared, row);
    gives_null |= value == nullptr;
    if (value != nullptr && !listed.add(value)) break;
  }
  FreeExprContext(prepared.context, true);
  List* computed = listed.different(expression);
  return computed != NIL && gives_null ? lappend(computed, null_like(expression)) : computed;
}

}  // namespace dpquantile
