#include "pg/plain/value_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pg/grants/protection_catalog.hpp"
#include "pg/plain/value_range.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

std::optional<ValueType> type_with_bounds(Oid type) {
  const Oid base = getBaseType(type);
  return find_value_type(base == FLOAT4OID ? FLOAT8OID : base);
}

namespace {

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

// The first argument, if it is a text in the query, in lower case; else null.
const char* first_text(const FuncExpr* call) {
  if (call->args == NIL) return nullptr;
  const auto* part = static_cast<const Node*>(linitial(call->args));
  if (!IsA(part, Const) || as<Const>(part)->constisnull || exprType(part) != TEXTOID)
    return nullptr;
  char* written = TextDatumGetCString(as<Const>(part)->constvalue);
  return asc_tolower(written, strlen(written));
}

// Which part of a time a call extracts; null for other calls.
const char* extracted_part(const FuncExpr* call) {
  const char* name = call->funcid < FirstUnpinnedObjectId ? get_func_name(call->funcid) : nullptr;
  const bool extracts =
      name != nullptr && (strcmp(name, "extract") == 0 || strcmp(name, "date_part") == 0);
  return extracts && list_length(call->args) == 2 ? first_text(call) : nullptr;
}

// To which unit date_trunc cuts off; null for other calls.
const char* unit_of(const FuncExpr* call) {
  const char* name = get_func_name(call->funcid);
  return name != nullptr && strcmp(name, "date_trunc") == 0 ? first_text(call) : nullptr;
}

// The number of characters of a column that declares how many there are at most.
MaybeRange range_of_length(const FuncExpr* call) {
  const char* name = get_func_name(call->funcid);
  const bool is_length = name != nullptr && list_length(call->args) == 1 &&
                         (strcmp(name, "length") == 0 || strcmp(name, "char_length") == 0 ||
                          strcmp(name, "character_length") == 0);
  if (!is_length) return std::nullopt;
  const auto* text = static_cast<const Node*>(linitial(call->args));
  while (IsA(text, RelabelType)) text = as<Node>(as<RelabelType>(text)->arg);
  const Oid type = getBaseType(exprType(text));
  const int32 declared = exprTypmod(text) - static_cast<int32>(VARHDRSZ);
  if ((type != VARCHAROID && type != BPCHAROID) || declared < 1) return std::nullopt;
  return Range{0, static_cast<double>(declared)};
}

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
  MaybeRange range_in_branches(const List* definitions);
  MaybeRange range_of_aggregate(const Level* level, const Aggref* call);
  MaybeRange range_of_window(const Level* level, const WindowFunc* call);
  MaybeRange range_of_exact(const Level* level, const ExactAggregate& call);

  static constexpr int kMostNodes = 1000;
  int nodes_ = 0;
};

// Of an expression of which nothing is known
constexpr Range kAny = {-std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::infinity()};

// A range with both ends; what is computed with others is not known.
MaybeRange with_ends(const MaybeRange& range) {
  const bool has_ends = range && std::isfinite(range->lower) && std::isfinite(range->upper);
  return has_ends ? range : std::nullopt;
}

MaybeRange range_of_constant(const Const* constant) {
  const auto type = type_with_bounds(constant->consttype);
  if (!type || constant->constisnull) return std::nullopt;
  const double number = constant->consttype == FLOAT4OID
                            ? static_cast<double>(DatumGetFloat4(constant->constvalue))
                            : number_of_value(*type, constant->constvalue);
  if (!std::isfinite(number)) return std::nullopt;
  return Range{number, number};
}

// numeric(8, -2) rounds to hundreds.
bool rounds_to_tens(const FuncExpr* cast) {
  if (cast->funcresulttype != NUMERICOID || list_length(cast->args) < 2) return false;
  const int32 modifier = exprTypmod(as<Node>(cast));
  constexpr int32 kSign = 1 << 10;
  return modifier >= VARHDRSZ && ((modifier - VARHDRSZ) & kSign) != 0;
}

bool is_cast_of_number(const FuncExpr* cast) {
  if (cast->funcformat != COERCE_IMPLICIT_CAST && cast->funcformat != COERCE_EXPLICIT_CAST) {
    return false;
  }
  const Oid from = exprType(static_cast<Node*>(linitial(cast->args)));
  return is_number(cast->funcresulttype) && is_number(from) && !rounds_to_tens(cast);
}

// numeric(10, 0) rounds, too.
MaybeRange after_cast(const FuncExpr* cast, const MaybeRange& range) {
  const bool rounds = is_whole_type(cast->funcresulttype) || list_length(cast->args) > 1;
  if (!range || !rounds) return range;
  return Range{std::floor(range->lower), std::ceil(range->upper)};
}

// PostgreSQL brings what it compares to one type: the constants of bigint values have a cast.
MaybeRange range_of_literal(const Node* expression) {
  if (IsA(expression, Const)) return range_of_constant(as<Const>(expression));
  if (!IsA(expression, FuncExpr) || as<FuncExpr>(expression)->args == NIL) return std::nullopt;
  const auto* cast = as<FuncExpr>(expression);
  const auto* constant = static_cast<const Node*>(linitial(cast->args));
  if (!IsA(constant, Const) || !is_cast_of_number(cast)) return std::nullopt;
  return after_cast(cast, range_of_constant(as<Const>(constant)));
}

MaybeRange RangeSearch::range_of_operator(const Level* level, const OpExpr* operation) {
  const char* name = get_opname(operation->opno);
  if (operation->opno >= FirstUnpinnedObjectId || name == nullptr || name[0] == '\0' ||
      name[1] != '\0') {
    return std::nullopt;
  }
  auto* last = static_cast<Node*>(llast(operation->args));
  const MaybeRange right = with_ends(range_of(level, last));
  if (!right) return std::nullopt;
  if (list_length(operation->args) == 1) {
    if (name[0] == '+') return right;
    return name[0] == '-' ? MaybeRange(Range{-right->upper, -right->lower}) : std::nullopt;
  }
  auto* first = static_cast<Node*>(linitial(operation->args));
  const MaybeRange left = with_ends(range_of(level, first));
  return range_of_operation(name[0], {left, getBaseType(exprType(first))},
                            {right, getBaseType(exprType(last))}, operation->opresulttype);
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

// GREATEST and LEAST. Those of NULLs alone are NULL; another NULL is left out. A constant is a
// bound, whatever is known of the others.
MaybeRange RangeSearch::range_of_extreme(const Level* level, const MinMaxExpr* extreme) {
  Range range = range_of_any(level, extreme->args).value_or(kAny);
  for (auto* argument : each<Node>(extreme->args)) {
    const MaybeRange limit = range_of_literal(argument);
    if (!limit) continue;
    if (extreme->op == IS_LEAST) range.upper = std::min(range.upper, limit->upper);
    if (extreme->op == IS_GREATEST) range.lower = std::max(range.lower, limit->lower);
  }
  return range;
}

// What a comparison of an expression with a constant says of it, if it is true or if it is not.
struct Comparison {
  char direction;  // '<' or '>' of the expression and the constant
  MaybeRange constant;
};

Comparison comparison_of(const Node* expression, const Node* condition) {
  if (!IsA(condition, OpExpr) || list_length(as<OpExpr>(condition)->args) != 2) return {};
  const auto* operation = as<OpExpr>(condition);
  const char* name = get_opname(operation->opno);
  const bool compares = operation->opno < FirstUnpinnedObjectId && name != nullptr &&
                        (strcmp(name, "<") == 0 || strcmp(name, "<=") == 0 ||
                         strcmp(name, ">") == 0 || strcmp(name, ">=") == 0);
  if (!compares) return {};
  const auto* left = static_cast<const Node*>(linitial(operation->args));
  const auto* right = static_cast<const Node*>(lsecond(operation->args));
  if (equal(left, expression)) return {name[0], range_of_literal(right)};
  if (!equal(right, expression)) return {};
  return {name[0] == '<' ? '>' : '<', range_of_literal(left)};
}

// Cuts off what an expression cannot be where a condition is true, or where it is not: false or
// NULL, of which the latter is so for a NULL expression alone.
void cut_off(const Node* expression, Node* condition, bool is_true, Range* range) {
  if (is_true ? is_andclause(condition) : is_orclause(condition)) {
    for (auto* term : each<Node>(as<BoolExpr>(condition)->args)) {
      cut_off(expression, term, is_true, range);
    }
    return;
  }
  const Comparison comparison = comparison_of(expression, condition);
  const MaybeRange& constant = comparison.constant;
  if (!constant) return;
  if ((comparison.direction == '<') == is_true) {
    range->upper = std::min(range->upper, constant->upper);
  } else {
    range->lower = std::max(range->lower, constant->lower);
  }
}

// Each result is one where its own condition is true and those before are not.
MaybeRange RangeSearch::range_of_case(const Level* level, const CaseExpr* choice) {
  MaybeRange all;
  const auto add = [&](Node* result, int conditions, const CaseWhen* own) {
    if (is_null(result)) return;
    Range range = range_of(level, result).value_or(kAny);
    for (int i = 0; i < conditions && choice->arg == nullptr; ++i) {
      cut_off(result, as<Node>(static_cast<CaseWhen*>(list_nth(choice->args, i))->expr), false,
              &range);
    }
    if (own != nullptr && choice->arg == nullptr) {
      cut_off(result, as<Node>(own->expr), true, &range);
    }
    all = all ? hull(*all, range) : range;
  };
  int number = 0;
  for (const auto* branch : each<const CaseWhen>(choice->args)) {
    add(as<Node>(branch->result), number++, branch);
  }
  add(as<Node>(choice->defresult), number, nullptr);
  return all;
}

// The ranges of the arguments of a call; of those without one the types alone.
MaybeRange RangeSearch::range_of_function(const Level* level, const FuncExpr* call) {
  const char* name = call->funcid < FirstUnpinnedObjectId ? get_func_name(call->funcid) : nullptr;
  if (name == nullptr || !type_with_bounds(call->funcresulttype)) return std::nullopt;
  if (is_epoch(call)) return epoch_of(level, call);
  if (call->funcid == F_INT4_BOOL) return Range{0, 1};
  if (const MaybeRange length = range_of_length(call)) return length;
  if (const char* part = extracted_part(call)) {
    auto* time = static_cast<Node*>(lsecond(call->args));
    return range_of_part(part, with_ends(range_of(level, time)), getBaseType(exprType(time)));
  }
  if (const MaybeRange range = range_of_cast(level, call)) return range;
  constexpr int kMostArguments = 4;
  TypedRange arguments[kMostArguments];
  int count = 0;
  for (auto* argument : each<Node>(call->args)) {
    if (count == kMostArguments) return std::nullopt;
    arguments[count++] = {with_ends(range_of(level, argument)), getBaseType(exprType(argument))};
  }
  return range_of_call(name, {arguments, static_cast<size_t>(count)}, call->funcresulttype,
                       unit_of(call));
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

MaybeRange RangeSearch::range_of_cast(const Level* level, const FuncExpr* cast) {
  if (!is_cast_of_number(cast)) return std::nullopt;
  return after_cast(cast, range_of(level, static_cast<Node*>(linitial(cast->args))));
}

MaybeRange RangeSearch::range_in_branches(const List* definitions) {
  MaybeRange all;
  for (const auto* definition : each<const LevelExpression>(definitions)) {
    if (is_null(definition->expression)) continue;
    const MaybeRange range = range_of(definition->level, definition->expression);
    if (!range) return std::nullopt;
    all = all ? hull(*all, *range) : *range;
  }
  return all;
}

MaybeRange RangeSearch::range_of_column(const Level* level, Var* column) {
  if (const auto definition = definition_of(level, column)) {
    return range_of(definition->level, definition->expression);
  }
  if (const List* definitions = definitions_in_branches(level, column)) {
    return range_in_branches(definitions);
  }
  const auto origin = origin_of(level, as<Node>(column));
  const auto bounds = origin ? bounds_of_column(*origin, column->vartype) : std::nullopt;
  if (!bounds) return std::nullopt;
  return Range{bounds->lower, bounds->upper};
}

Node* argument_of(const Aggref* call) {
  return call->args == NIL ? nullptr
                           : as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr);
}

// What an aggregate of the rows of a person has the same bounds as.
bool is_between(const char* name) {
  for (const char* known : {"min", "max", "avg", "percentile_cont", "percentile_disc"}) {
    if (strcmp(name, known) == 0) return true;
  }
  return false;
}

// An aggregate of the rows of a person. Who has more rows than the owner says is cut off, as values
// beyond other bounds are.
MaybeRange RangeSearch::range_of_aggregate(const Level* level, const Aggref* call) {
  const char* name = get_func_name(call->aggfnoid);
  if (name == nullptr || !level->groups_persons) return std::nullopt;
  return range_of_exact(level, {name, argument_of(call)});
}

MaybeRange RangeSearch::range_of_exact(const Level* level, const ExactAggregate& call) {
  const int rows = most_rows_in_from(level);
  if (strcmp(call.name, "count") == 0) {
    return rows == 0 ? MaybeRange() : Range{0, static_cast<double>(rows)};
  }
  const MaybeRange range =
      call.argument == nullptr ? MaybeRange() : with_ends(range_of(level, call.argument));
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
  const auto rows = static_cast<double>(most_rows_in_from(level));
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
  const char* part = extracted_part(call);
  return part != nullptr && strcmp(part, "epoch") == 0;
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
  // Bounds of dates and times are dates and times.
  const bool rounds = is_temporal(*type);
  return ValueBounds{*type, rounds ? std::floor(range->lower) : range->lower,
                     rounds ? std::ceil(range->upper) : range->upper,
                     granularity_through_casts(level, expression)};
}

}  // namespace dpquantile
