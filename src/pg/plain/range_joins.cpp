#include "pg/plain/range_joins.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/grants/refusal.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/subquery_join.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_node.h"
#include "parser/parse_oper.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

// generate_series(first, last, step) in FROM.
struct Series {
  const Level* level;
  Var* value;
  Node* first;
  Node* last;
  const Const* step;
};

// ---- The series ----------------------------------------------------------------------------

const Const* one_of_type(Oid type) {
  const bool is_long = type == INT8OID;
  return makeConst(type, -1, InvalidOid, is_long ? 8 : 4,
                   is_long ? Int64GetDatum(1) : Int32GetDatum(1), false,
                   is_long ? FLOAT8PASSBYVAL : true);
}

bool is_series(Oid function) {
  switch (function) {
    case F_GENERATE_SERIES_TIMESTAMP_TIMESTAMP_INTERVAL:
    case F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL:
    case F_GENERATE_SERIES_INT4_INT4_INT4:
    case F_GENERATE_SERIES_INT4_INT4:
    case F_GENERATE_SERIES_INT8_INT8_INT8:
    case F_GENERATE_SERIES_INT8_INT8:
      return true;
    default:
      return false;
  }
}

std::optional<Series> series_in(const Level* level, int number) {
  const RangeTblEntry* entry = entry_of(level, number).table;
  if (entry->rtekind != RTE_FUNCTION || entry->funcordinality ||
      list_length(entry->functions) != 1) {
    return std::nullopt;
  }
  const auto* call =
      as<FuncExpr>(static_cast<const RangeTblFunction*>(linitial(entry->functions))->funcexpr);
  if (!IsA(call, FuncExpr) || !is_series(call->funcid)) return std::nullopt;
  if (contain_var_clause(as<Node>(call->args)) || contain_volatile_functions(as<Node>(call->args)))
    return std::nullopt;
  const Oid type = call->funcresulttype;
  const auto* step =
      list_length(call->args) == 2
          ? one_of_type(type)
          : as<Const>(eval_const_expressions(nullptr, static_cast<Node*>(lthird(call->args))));
  if (!IsA(step, Const) || step->constisnull) return std::nullopt;
  return Series{level, makeVar(number, 1, type, -1, InvalidOid, 0),
                static_cast<Node*>(linitial(call->args)), static_cast<Node*>(lsecond(call->args)),
                step};
}

// ---- The range of a value ------------------------------------------------------------------

Node* operation(const char* name, Node* left, Node* right) {
  ParseState* state = make_parsestate(nullptr);
  List* qualified = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup(name)));
  auto* made = as<Node>(make_op(state, qualified, static_cast<Node*>(copyObjectImpl(left)),
                                static_cast<Node*>(copyObjectImpl(right)), nullptr, kNowhere));
  free_parsestate(state);
  return made;
}

Node* call_of(Oid function, Oid type, List* arguments) {
  return as<Node>(makeFuncExpr(function, type, static_cast<List*>(copyObjectImpl(arguments)),
                               InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

// The unit of date_trunc that is as long as an interval; null if there is none.
const char* unit_of(const Interval* step) {
  const bool has_months = step->month != 0;
  if (step->time != 0 || (has_months && step->day != 0)) return nullptr;
  switch (has_months ? step->month : step->day) {
    case 1:
      return has_months ? "month" : "day";
    case 3:
      return has_months ? "quarter" : nullptr;
    case 7:
      return has_months ? nullptr : "week";
    case 12:
      return has_months ? "year" : nullptr;
    default:
      return nullptr;
  }
}

Node* truncated(const char* unit, Node* time) {
  const bool has_zone = exprType(time) == TIMESTAMPTZOID;
  auto* name = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
                         PointerGetDatum(cstring_to_text(unit)), false, false);
  auto* call =
      as<FuncExpr>(call_of(has_zone ? F_DATE_TRUNC_TEXT_TIMESTAMPTZ : F_DATE_TRUNC_TEXT_TIMESTAMP,
                           exprType(time), list_make2(name, time)));
  call->inputcollid = DEFAULT_COLLATION_OID;
  return as<Node>(call);
}

// Whether date_trunc leaves all values of the series as they are. Where clocks go forth at midnight
// those of days in a time zone do not stay at midnight.
bool are_truncated(const Series& series, const char* unit) {
  const List* parts = list_make1(series.value);
  Node* next = operation("+", as<Node>(series.value), as<Node>(const_cast<Const*>(series.step)));
  Node* is_last = operation(">", as<Node>(series.value), series.last);
  Node* is_aligned =
      operation("=", truncated(unit, as<Node>(series.value)), as<Node>(series.value));
  if (!can_be_evaluated(series.first, NIL) || !can_be_evaluated(next, parts) ||
      !can_be_evaluated(is_last, parts) || !can_be_evaluated(is_aligned, parts)) {
    return false;
  }
  const auto is_true = [&](const Node* condition, const Const* value) {
    const Const* result = evaluated(series.level, condition, as<Node>(series.value), value);
    return result != nullptr && !result->constisnull && DatumGetBool(result->constvalue);
  };
  const Const* value = evaluated(series.level, series.first, nullptr, nullptr);
  for (int number = 0; number <= kMaxElements && value != nullptr; ++number) {
    if (is_true(is_last, value)) return true;
    if (!is_true(is_aligned, value)) return false;
    value = evaluated(series.level, next, as<Node>(series.value), value);
  }
  return false;
}

// date_trunc or date_bin of a time of the type of the series; null if there is none that gives the
// first moment of its range.
Node* range_of_time(const Series& series, Node* time) {
  const auto* step = DatumGetIntervalP(series.step->constvalue);
  const bool has_zone = series.value->vartype == TIMESTAMPTZOID;
  const bool is_fixed = step->month == 0 && (!has_zone || step->day == 0);
  if (is_fixed && step->day >= 0 && step->time >= 0 && (step->day > 0 || step->time > 0)) {
    return call_of(has_zone ? F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ
                            : F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP,
                   series.value->vartype,
                   list_make3(const_cast<Const*>(series.step), time, series.first));
  }
  const char* unit = unit_of(step);
  return unit != nullptr && are_truncated(series, unit) ? truncated(unit, time) : nullptr;
}

int64 whole_number(const Const* number) {
  return number->consttype == INT8OID ? DatumGetInt64(number->constvalue)
                                      : DatumGetInt32(number->constvalue);
}

// first + (number - first) / step * step, from `first` on; null for other types than whole numbers
// and numeric.
Node* range_of_number(const Series& series, Node* number) {
  const Oid type = exprType(number);
  const bool is_whole = type == INT2OID || type == INT4OID || type == INT8OID;
  if ((!is_whole && type != NUMERICOID) || whole_number(series.step) <= 0) return nullptr;
  auto* step = as<Node>(const_cast<Const*>(series.step));
  Node* distance = operation("-", number, series.first);
  if (is_whole) {
    Node* range =
        operation("+", series.first, operation("*", operation("/", distance, step), step));
    return value_if(operation(">=", number, series.first), range);
  }
  const Oid whole = series.value->vartype;
  Node* length =
      call_of(whole == INT8OID ? F_NUMERIC_INT8 : F_NUMERIC_INT4, NUMERICOID, list_make1(step));
  Node* steps = call_of(F_DIV, NUMERICOID, list_make2(distance, length));
  Node* range = call_of(whole == INT8OID ? F_INT8_NUMERIC : F_INT4_NUMERIC, whole,
                        list_make1(operation("+", series.first, operation("*", steps, length))));
  return value_if(operation(">=", number, series.first), range);
}

// A time as PostgreSQL compares it with those of the series; null for other types.
Node* as_time_of(const Series& series, Node* time) {
  const Oid type = exprType(time);
  const bool has_zone = series.value->vartype == TIMESTAMPTZOID;
  if (type == series.value->vartype) return time;
  if (type == DATEOID) {
    return call_of(has_zone ? F_TIMESTAMPTZ_DATE : F_TIMESTAMP_DATE, series.value->vartype,
                   list_make1(time));
  }
  if (type == TIMESTAMPOID && has_zone) {
    return call_of(F_TIMESTAMPTZ_TIMESTAMP, TIMESTAMPTZOID, list_make1(time));
  }
  return nullptr;
}

Node* range_of(const Series& series, Node* value) {
  if (series.step->consttype != INTERVALOID) return range_of_number(series, value);
  Node* time = as_time_of(series, value);
  return time == nullptr ? nullptr : range_of_time(series, time);
}

// ---- The comparisons -----------------------------------------------------------------------

// A value that is compared with one of the series.
struct Bound {
  Node* value;
  Node* bound;
  int strategy;  // of a btree
};

bool has_column(Node* expression, const Var* column) {
  return any_node(expression, [=](Node* node) { return equal(node, column); });
}

std::optional<Bound> bound_of(const Series& series, const Node* term) {
  const auto* comparison = as<OpExpr>(term);
  if (!IsA(term, OpExpr) || list_length(comparison->args) != 2) return std::nullopt;
  auto* left = static_cast<Node*>(linitial(comparison->args));
  auto* right = static_cast<Node*>(lsecond(comparison->args));
  const bool is_turned = has_column(left, series.value);
  if (is_turned == has_column(right, series.value)) return std::nullopt;
  const Oid operation = is_turned ? get_commutator(comparison->opno) : comparison->opno;
  Node* value = is_turned ? right : left;
  if (!OidIsValid(operation) || !contain_vars_of_level(value, 0) ||
      contain_volatile_functions(value)) {
    return std::nullopt;
  }
  const List* places = DPQ_PLACES_IN_ORDER(operation);
  if (places == NIL) return std::nullopt;
  return Bound{value, is_turned ? left : right, DPQ_STRATEGY_IN_ORDER(linitial(places))};
}

// A number in the place of a numeric that it is cast to.
Node* without_cast(Node* bound) {
  const auto* cast = as<FuncExpr>(bound);
  const bool is_cast =
      IsA(bound, FuncExpr) && (cast->funcid == F_NUMERIC_INT4 || cast->funcid == F_NUMERIC_INT8);
  return is_cast ? static_cast<Node*>(linitial(cast->args)) : bound;
}

bool is_step(const Series& series, const Node* length) {
  const auto* number = as<Const>(length);
  const bool is_whole = IsA(length, Const) && !number->constisnull &&
                        (number->consttype == INT4OID || number->consttype == INT8OID);
  if (series.step->consttype == INTERVALOID || !is_whole) return equal(length, series.step);
  return whole_number(number) == whole_number(series.step);
}

// Whether a bound is a value of the series and the step, in this order.
bool is_next(const Series& series, const Node* bound) {
  const auto* sum = as<OpExpr>(bound);
  return IsA(bound, OpExpr) && list_length(sum->args) == 2 &&
         strcmp(get_opname(sum->opno), "+") == 0 && equal(linitial(sum->args), series.value) &&
         is_step(series, static_cast<const Node*>(lsecond(sum->args)));
}

bool begins_range(const Series& series, const Bound& bound) {
  return bound.strategy == BTGreaterEqualStrategyNumber &&
         equal(without_cast(bound.bound), series.value);
}

bool ends_range(const Series& series, const Bound& bound) {
  return bound.strategy == BTLessStrategyNumber && is_next(series, without_cast(bound.bound));
}

// Whether a value is the date of one of the series, which are all midnights.
bool is_date_of(const Series& series, Node* bound) {
  const auto* cast = as<FuncExpr>(bound);
  return IsA(bound, FuncExpr) &&
         (cast->funcid == F_DATE_TIMESTAMP || cast->funcid == F_DATE_TIMESTAMPTZ) &&
         equal(linitial(cast->args), series.value) && are_truncated(series, "day");
}

// The = of two values of the type of the series in the place of one of a date; null for other
// terms.
Node* equality_of_times(const Series& series, Node* term) {
  const auto compared = bound_of(series, term);
  if (!compared || compared->strategy != BTEqualStrategyNumber ||
      series.step->consttype != INTERVALOID || exprType(compared->value) == series.value->vartype) {
    return nullptr;
  }
  const bool is_of_date =
      exprType(compared->value) == DATEOID && is_date_of(series, compared->bound);
  if (!is_of_date && !equal(compared->bound, series.value)) return nullptr;
  Node* time = as_time_of(series, compared->value);
  return time == nullptr ? nullptr : operation("=", time, as<Node>(series.value));
}

// The terms with = in the place of two of them, or of one; NIL if there are none.
List* with_equality(const Series& series, const List* terms) {
  for (auto* begin : each<Node>(terms)) {
    if (Node* equality = equality_of_times(series, begin)) {
      return lappend(list_delete_ptr(list_copy(terms), begin), equality);
    }
    const auto lower = bound_of(series, begin);
    if (!lower || !begins_range(series, *lower)) continue;
    for (auto* end : each<Node>(terms)) {
      const auto upper = bound_of(series, end);
      if (!upper || !ends_range(series, *upper) || !equal(lower->value, upper->value)) continue;
      Node* range = range_of(series, lower->value);
      if (range == nullptr) continue;
      List* others = list_delete_ptr(list_delete_ptr(list_copy(terms), begin), end);
      return lappend(others, operation("=", range, as<Node>(series.value)));
    }
  }
  return NIL;
}

bool put_equality(const Series& series, Node** condition) {
  List* terms = with_equality(series, terms_of(*condition));
  if (terms == NIL) return false;
  *condition = as<Node>(make_ands_explicit(terms));
  return true;
}

}  // namespace

bool join_ranges_by_equality(const Level* level) {
  bool changes = false;
  FromExpr* from = level->query->jointree;
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    const auto series = series_in(level, number);
    if (!series) continue;
    changes |= put_equality(*series, &from->quals);
    visit_nodes(from->fromlist, [&](Node* part) {
      if (IsA(part, JoinExpr)) changes |= put_equality(*series, &as<JoinExpr>(part)->quals);
    });
  }
  return changes;
}

}  // namespace dpquantile
