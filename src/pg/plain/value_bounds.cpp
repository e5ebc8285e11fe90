#include "pg/plain/value_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pg/grants/protection_catalog.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

std::optional<ValueType> type_with_bounds(Oid type) {
  const Oid base = getBaseType(type);
  return find_value_type(base == FLOAT4OID ? FLOAT8OID : base);
}

namespace {

struct Range {
  double lower;
  double upper;
};
using MaybeRange = std::optional<Range>;

bool is_number(Oid type) {
  const auto value_type = type_with_bounds(type);
  return value_type && !is_temporal(*value_type);
}

double number_in(ValueType type, const char* text) {
  return number_of_text(is_temporal(type) ? type : ValueType::kFloat8, pstrdup(text));
}

std::optional<ValueBounds> bounds_of_column(const ColumnOrigin& origin, Oid type) {
  const ColumnDomain* domain = find_domain(origin.relation, origin.column);
  const auto value_type = type_with_bounds(type);
  if (domain == nullptr || domain->lower == nullptr || !value_type) return std::nullopt;
  ValueBounds bounds{*value_type, number_in(*value_type, domain->lower),
                     number_in(*value_type, domain->upper), std::nullopt};
  if (domain->granularity != nullptr) {
    bounds.granularity =
        is_temporal(*value_type)
            ? step_of_interval(*value_type, DirectFunctionCall3(
                                                interval_in, CStringGetDatum(domain->granularity),
                                                ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)))
            : number_in(ValueType::kFloat8, domain->granularity);
  }
  return bounds;
}

// ---- Computed numbers ----------------------------------------------------------------------

// An exact aggregate of rows of a person.
struct ExactAggregate {
  const char* name;
  Node* argument;  // or null
};

// Finds ranges. It gives up after so many nodes: derived tables can double each other, level by
// level.
class RangeSearch {
 public:
  MaybeRange range_of(const Level* level, Node* expression);

 private:
  MaybeRange range_of_operator(const Level* level, const OpExpr* operation);
  MaybeRange range_of_any(const Level* level, const List* expressions);
  MaybeRange range_of_extreme(const Level* level, const MinMaxExpr* extreme);
  MaybeRange range_of_case(const Level* level, const CaseExpr* choice);
  MaybeRange range_of_cast(const Level* level, const FuncExpr* cast);
  MaybeRange range_of_function(const Level* level, const FuncExpr* call);
  MaybeRange epoch_of(const Level* level, const FuncExpr* call);
  MaybeRange range_of_column(const Level* level, Var* column);
  MaybeRange range_of_aggregate(const Level* level, const Aggref* call);
  MaybeRange range_of_window(const Level* level, const WindowFunc* call);
  MaybeRange range_of_exact(const Level* level, const ExactAggregate& call);

  static constexpr int kMostNodes = 1000;
  int nodes_ = 0;
};

MaybeRange range_of_constant(const Const* constant) {
  const auto type = type_with_bounds(constant->consttype);
  if (!type || constant->constisnull) return std::nullopt;
  const double number = constant->consttype == FLOAT4OID
                            ? static_cast<double>(DatumGetFloat4(constant->constvalue))
                            : number_of_value(*type, constant->constvalue);
  if (!std::isfinite(number)) return std::nullopt;
  return Range{number, number};
}

Range hull(const Range& one, const Range& other) {
  return {std::min(one.lower, other.lower), std::max(one.upper, other.upper)};
}

Range product(const Range& left, const Range& right) {
  const double corners[] = {left.lower * right.lower, left.lower * right.upper,
                            left.upper * right.lower, left.upper * right.upper};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners))};
}

bool is_whole_type(Oid type) {
  return type == INT2OID || type == INT4OID || type == INT8OID;
}

// Division of whole numbers cuts off what is behind the point.
MaybeRange quotient(const Range& left, const Range& right, Oid type) {
  if (right.lower <= 0 && right.upper >= 0) return std::nullopt;
  const double corners[] = {left.lower / right.lower, left.lower / right.upper,
                            left.upper / right.lower, left.upper / right.upper};
  Range range = {*std::min_element(std::begin(corners), std::end(corners)),
                 *std::max_element(std::begin(corners), std::end(corners))};
  if (!is_whole_type(type)) return range;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // No -0, which a key would show
  return Range{std::trunc(std::nextafter(range.lower, -kInfinity)) + 0.0,
               std::trunc(std::nextafter(range.upper, kInfinity)) + 0.0};
}

MaybeRange RangeSearch::range_of_operator(const Level* level, const OpExpr* operation) {
  const char* name = get_opname(operation->opno);
  if (operation->opno >= FirstUnpinnedObjectId || name == nullptr ||
      !is_number(operation->opresulttype) || name[0] == '\0' || name[1] != '\0') {
    return std::nullopt;
  }
  const MaybeRange right = range_of(level, static_cast<Node*>(llast(operation->args)));
  if (!right) return std::nullopt;
  if (list_length(operation->args) == 1) {
    if (name[0] == '+') return right;
    return name[0] == '-' ? MaybeRange(Range{-right->upper, -right->lower}) : std::nullopt;
  }
  const MaybeRange left = range_of(level, static_cast<Node*>(linitial(operation->args)));
  if (!left) return std::nullopt;
  switch (name[0]) {
    case '+':
      return Range{left->lower + right->lower, left->upper + right->upper};
    case '-':
      return Range{left->lower - right->upper, left->upper - right->lower};
    case '*':
      return product(*left, *right);
    case '/':
      return quotient(*left, *right, operation->opresulttype);
    default:
      return std::nullopt;
  }
}

// A NULL value is in no bounds and counts nowhere.
bool is_null(const Node* expression) {
  return expression == nullptr || (IsA(expression, Const) && as<Const>(expression)->constisnull);
}

MaybeRange RangeSearch::range_of_any(const Level* level, const List* expressions) {
  MaybeRange all;
  for (auto* expression : each<Node>(expressions)) {
    if (is_null(expression)) continue;
    const MaybeRange range = range_of(level, expression);
    if (!range) return std::nullopt;
    all = all ? hull(*all, *range) : *range;
  }
  return all;
}

// GREATEST and LEAST. Those of NULLs alone are NULL; another NULL is left out.
MaybeRange RangeSearch::range_of_extreme(const Level* level, const MinMaxExpr* extreme) {
  const MaybeRange any = range_of_any(level, extreme->args);
  if (!any) return std::nullopt;
  Range range = *any;
  for (auto* argument : each<Node>(extreme->args)) {
    if (!IsA(argument, Const) || is_null(argument)) continue;
    const double limit = range_of(level, argument)->lower;
    if (extreme->op == IS_LEAST) range.upper = std::min(range.upper, limit);
    if (extreme->op == IS_GREATEST) range.lower = std::max(range.lower, limit);
  }
  return range;
}

MaybeRange RangeSearch::range_of_case(const Level* level, const CaseExpr* choice) {
  List* results = list_make1(choice->defresult);
  for (auto* branch : each<CaseWhen>(choice->args)) {
    results = lappend(results, branch->result);
  }
  return range_of_any(level, results);
}

// Functions of one number that never fall, or that are even.
MaybeRange RangeSearch::range_of_function(const Level* level, const FuncExpr* call) {
  const char* name = call->funcid < FirstUnpinnedObjectId ? get_func_name(call->funcid) : nullptr;
  if (name == nullptr || !is_number(call->funcresulttype)) return std::nullopt;
  if (is_epoch(call)) return epoch_of(level, call);
  if (call->funcid == F_INT4_BOOL) return Range{0, 1};
  if (list_length(call->args) != 1) return range_of_cast(level, call);
  const MaybeRange range = range_of(level, static_cast<Node*>(linitial(call->args)));
  if (!range) return std::nullopt;
  if (strcmp(name, "abs") == 0) {
    const double most = std::max(std::abs(range->lower), std::abs(range->upper));
    return Range{range->lower <= 0 && range->upper >= 0
                     ? 0
                     : std::min(std::abs(range->lower), std::abs(range->upper)),
                 most};
  }
  for (const char* rounding : {"floor", "ceil", "ceiling", "round", "trunc"}) {
    if (strcmp(name, rounding) != 0) continue;
    return Range{std::floor(range->lower), std::ceil(range->upper)};
  }
  return range_of_cast(level, call);
}

// The seconds of an interval of so many microseconds, which is 360 days or more if it has years:
// PostgreSQL compares a year as 360 days, and its seconds are those of 365.25.
double seconds_of_interval(double microseconds) {
  constexpr double kSeconds = 1e-6;
  constexpr double kYear = 360 * 86400;
  constexpr double kLonger = 365.25 / 360;
  const double seconds = microseconds * kSeconds;
  return std::abs(seconds) < kYear ? seconds : seconds * kLonger;
}

// The seconds of a moment, a time of day or an interval with bounds. Those of a time without a zone
// are as in UTC.
MaybeRange RangeSearch::epoch_of(const Level* level, const FuncExpr* call) {
  constexpr double kEpoch = 946684800;  // of the year 2000
  constexpr double kMicroseconds = 1e6;
  auto* time = static_cast<Node*>(lsecond(call->args));
  const Oid type = exprType(time);
  const bool is_moment = type == TIMESTAMPOID || type == TIMESTAMPTZOID;
  if (!is_epoch(call) || (!is_moment && type != TIMEOID && type != INTERVALOID)) {
    return std::nullopt;
  }
  const auto bounds = bounds_of(level, time);
  if (!bounds) return std::nullopt;
  if (type == INTERVALOID) {
    return Range{seconds_of_interval(bounds->lower), seconds_of_interval(bounds->upper)};
  }
  const double zero = is_moment ? kEpoch : 0;
  return Range{bounds->lower / kMicroseconds + zero, bounds->upper / kMicroseconds + zero};
}

// numeric(8, -2) rounds to hundreds.
bool rounds_to_tens(const FuncExpr* cast) {
  if (cast->funcresulttype != NUMERICOID || list_length(cast->args) < 2) return false;
  const int32 modifier = exprTypmod(as<Node>(cast));
  constexpr int32 kSign = 1 << 10;
  return modifier >= VARHDRSZ && ((modifier - VARHDRSZ) & kSign) != 0;
}

MaybeRange RangeSearch::range_of_cast(const Level* level, const FuncExpr* cast) {
  if (cast->funcformat != COERCE_IMPLICIT_CAST && cast->funcformat != COERCE_EXPLICIT_CAST) {
    return std::nullopt;
  }
  auto* from = static_cast<Node*>(linitial(cast->args));
  if (!is_number(cast->funcresulttype) || !is_number(exprType(from))) return std::nullopt;
  if (rounds_to_tens(cast)) return std::nullopt;
  const MaybeRange range = range_of(level, from);
  // numeric(10, 0) rounds, too.
  const bool rounds = is_whole_type(cast->funcresulttype) || list_length(cast->args) > 1;
  if (!range || !rounds) return range;
  return Range{std::floor(range->lower), std::ceil(range->upper)};
}

MaybeRange RangeSearch::range_of_column(const Level* level, Var* column) {
  if (const auto definition = definition_of(level, column)) {
    return range_of(definition->level, definition->expression);
  }
  const auto origin = origin_of(level, as<Node>(column));
  const auto bounds = origin ? bounds_of_column(*origin, column->vartype) : std::nullopt;
  if (!bounds) return std::nullopt;
  return Range{bounds->lower, bounds->upper};
}

// How many rows a person has at most in a level, by what the owners of the tables state; 0 if one
// of them does not state it.
int most_rows_of_person(const Level* level) {
  int most = 0;
  for (const Oid relation : each_oid(level->borrowed_rows)) {
    const ProtectedRelation* protection = find_protected_relation(relation);
    if (protection == nullptr || protection->max_rows == 0) return 0;
    most = std::max(most, protection->max_rows);
  }
  return most;
}

Node* argument_of(const Aggref* call) {
  return call->args == NIL ? nullptr
                           : as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr);
}

// What an aggregate of the rows of a person has the same bounds as.
bool is_between(const char* name) {
  return strcmp(name, "min") == 0 || strcmp(name, "max") == 0 || strcmp(name, "avg") == 0;
}

// An aggregate of the rows of a person. Who has more rows than the owner says is cut off, as values
// beyond other bounds are.
MaybeRange RangeSearch::range_of_aggregate(const Level* level, const Aggref* call) {
  const char* name = get_func_name(call->aggfnoid);
  if (name == nullptr || !level->groups_persons) return std::nullopt;
  return range_of_exact(level, {name, argument_of(call)});
}

MaybeRange RangeSearch::range_of_exact(const Level* level, const ExactAggregate& call) {
  const int rows = most_rows_of_person(level);
  if (strcmp(call.name, "count") == 0) {
    return rows == 0 ? MaybeRange() : Range{0, static_cast<double>(rows)};
  }
  const MaybeRange range = call.argument == nullptr ? MaybeRange() : range_of(level, call.argument);
  if (!range || is_between(call.name)) return range;
  if (strcmp(call.name, "sum") != 0 || rows == 0) return std::nullopt;
  return Range{std::min(range->lower, range->lower * rows),
               std::max(range->upper, range->upper * rows)};
}

// A window function over the rows of a person: the number of a row is at most that of all of them,
// and a value of another row is one of its column, or NULL.
MaybeRange RangeSearch::range_of_window(const Level* level, const WindowFunc* call) {
  const char* name = get_func_name(call->winfnoid);
  if (name == nullptr || !level->windows_persons) return std::nullopt;
  const auto rows = static_cast<double>(most_rows_of_person(level));
  for (const char* number : {"row_number", "rank", "dense_rank"}) {
    if (strcmp(name, number) == 0) return rows == 0 ? MaybeRange() : Range{1, rows};
  }
  for (const char* value : {"lag", "lead", "first_value", "last_value", "nth_value"}) {
    if (strcmp(name, value) != 0) continue;
    Node* other = list_length(call->args) > 2 ? static_cast<Node*>(lthird(call->args)) : nullptr;
    return range_of_any(level, list_make2(linitial(call->args), other));
  }
  if (!call->winagg) return std::nullopt;
  return range_of_exact(
      level, {name, call->args == NIL ? nullptr : static_cast<Node*>(linitial(call->args))});
}

MaybeRange RangeSearch::range_of(const Level* level, Node* expression) {
  CHECK_FOR_INTERRUPTS();
  check_stack_depth();
  if (++nodes_ > kMostNodes) return std::nullopt;
  switch (nodeTag(expression)) {
    case T_Var:
      return range_of_column(level, as<Var>(expression));
    case T_Const:
      return range_of_constant(as<Const>(expression));
    case T_RelabelType:
      return range_of(level, as<Node>(as<RelabelType>(expression)->arg));
    case T_FuncExpr:
      return range_of_function(level, as<FuncExpr>(expression));
    case T_OpExpr:
      return range_of_operator(level, as<OpExpr>(expression));
    case T_CaseExpr:
      return range_of_case(level, as<CaseExpr>(expression));
    case T_MinMaxExpr:
      return range_of_extreme(level, as<MinMaxExpr>(expression));
    case T_NullIfExpr:
      return range_of(level, static_cast<Node*>(linitial(as<NullIfExpr>(expression)->args)));
    case T_CoalesceExpr:
      return range_of_any(level, as<CoalesceExpr>(expression)->args);
    case T_Aggref:
      return range_of_aggregate(level, as<Aggref>(expression));
    case T_WindowFunc:
      return range_of_window(level, as<WindowFunc>(expression));
    default:
      return std::nullopt;
  }
}

// A cast that an aggregate needs leaves the values on the grid of their column, also in FROM.
std::optional<double> granularity_through_casts(const Level* level, Node* expression) {
  for (;;) {
    if (IsA(expression, Var)) {
      const auto definition = definition_of(level, as<Var>(expression));
      if (!definition) break;
      level = definition->level;
      expression = definition->expression;
      continue;
    }
    if (!IsA(expression, FuncExpr)) break;
    const auto* cast = as<FuncExpr>(expression);
    const bool is_cast =
        cast->funcformat == COERCE_IMPLICIT_CAST || cast->funcformat == COERCE_EXPLICIT_CAST;
    if (!is_cast || (cast->funcresulttype != FLOAT8OID && cast->funcresulttype != NUMERICOID)) {
      return std::nullopt;
    }
    expression = static_cast<Node*>(linitial(cast->args));
  }
  const auto origin = origin_of(level, expression);
  if (!origin || !is_number(exprType(expression))) return std::nullopt;
  const auto bounds = bounds_of_column(*origin, exprType(expression));
  return bounds ? bounds->granularity : std::nullopt;
}

}  // namespace

bool is_epoch(const FuncExpr* call) {
  const char* name = call->funcid < FirstUnpinnedObjectId ? get_func_name(call->funcid) : nullptr;
  if (name == nullptr || (strcmp(name, "extract") != 0 && strcmp(name, "date_part") != 0)) {
    return false;
  }
  const auto* part = static_cast<const Node*>(linitial(call->args));
  if (!IsA(part, Const) || as<Const>(part)->constisnull) return false;
  return strcmp(TextDatumGetCString(as<Const>(part)->constvalue), "epoch") == 0;
}

std::optional<ValueBounds> bounds_of(const Level* level, Node* expression) {
  const auto type = type_with_bounds(exprType(expression));
  if (!type) return std::nullopt;
  if (const auto origin = origin_of(level, expression)) {
    return bounds_of_column(*origin, exprType(expression));
  }
  const MaybeRange range = RangeSearch().range_of(level, expression);
  if (!range || !std::isfinite(range->lower) || !std::isfinite(range->upper) ||
      !(range->lower < range->upper)) {
    return std::nullopt;
  }
  return ValueBounds{*type, range->lower, range->upper,
                     granularity_through_casts(level, expression)};
}

}  // namespace dpquantile
