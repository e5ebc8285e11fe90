#include "pg/plain/standard_aggregate.hpp"

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>

#include "pg/grants/protection_catalog.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/group_keys.hpp"
#include "pg/plain/missing_bounds.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/unmatched_rows.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_node.h"
#include "parser/parse_oper.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

enum class Kind {
  kCount,
  kMoment,      // of values between bounds
  kPair,        // of two values, each between bounds
  kPercentile,  // WITHIN GROUP
  kMode,        // modal_key.hpp, before all others
  kLeast,
  kMost,
};

struct Counterpart {
  const char* standard;
  const char* name;  // of the private aggregate
  Kind kind;
};

constexpr Counterpart kCounterparts[] = {
    {"count", "dp_count", Kind::kCount},
    {"sum", "dp_sum", Kind::kMoment},
    {"avg", "dp_avg", Kind::kMoment},
    {"variance", "dp_variance", Kind::kMoment},
    {"var_samp", "dp_var_samp", Kind::kMoment},
    {"var_pop", "dp_var_pop", Kind::kMoment},
    {"stddev", "dp_stddev", Kind::kMoment},
    {"stddev_samp", "dp_stddev_samp", Kind::kMoment},
    {"stddev_pop", "dp_stddev_pop", Kind::kMoment},
    {"covar_pop", "dp_covar_pop", Kind::kPair},
    {"covar_samp", "dp_covar_samp", Kind::kPair},
    {"corr", "dp_corr", Kind::kPair},
    {"regr_slope", "dp_regr_slope", Kind::kPair},
    {"regr_intercept", "dp_regr_intercept", Kind::kPair},
    {"regr_r2", "dp_regr_r2", Kind::kPair},
    {"percentile_cont", "dp_quantile", Kind::kPercentile},
    {"percentile_disc", "dp_quantile", Kind::kPercentile},
    {"mode", nullptr, Kind::kMode},
    {"min", nullptr, Kind::kLeast},
    {"max", nullptr, Kind::kMost},
};

const Counterpart* find_counterpart(Oid function) {
  if (function >= FirstUnpinnedObjectId) return nullptr;
  const char* name = get_func_name(function);
  if (name == nullptr) return nullptr;
  for (const Counterpart& counterpart : kCounterparts) {
    if (strcmp(name, counterpart.standard) == 0) return &counterpart;
  }
  return nullptr;
}

[[noreturn]] void refuse_call(const PlainLevel* level, const Aggref* call, const char* reason,
                              const char* hint) {
  refuse(level->refused, call->location, reason, hint);
}

Node* argument_of(const Aggref* call) {
  return as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr);
}

bool casts_to_float8(const Node* value) {
  if (!IsA(value, FuncExpr)) return false;
  const auto* cast = as<FuncExpr>(value);
  return cast->funcformat == COERCE_IMPLICIT_CAST && cast->funcresulttype == FLOAT8OID &&
         cast->funcid < FirstUnpinnedObjectId && list_length(cast->args) == 1;
}

Node* without_cast_to_float8(Node* value) {
  return casts_to_float8(value) ? static_cast<Node*>(linitial(as<FuncExpr>(value)->args)) : value;
}

}  // namespace

Node* value_of_percentile(const Aggref* call) {
  return without_cast_to_float8(argument_of(call));
}

namespace {

// ---- Bounds --------------------------------------------------------------------------------

// Aggregates need two bounds. Where all values are one number, as of CASE WHEN x THEN 1 END, 0 is
// the other.
ValueBounds with_two_ends(ValueBounds bounds) {
  if (bounds.lower != bounds.upper) return bounds;
  if (bounds.lower == 0) {
    bounds.upper = 1;
  } else {
    (bounds.lower < 0 ? bounds.upper : bounds.lower) = 0;
  }
  return bounds;
}

ValueBounds require_bounds(const PlainLevel* level, const Aggref* call, Node* value) {
  if (const auto bounds = bounds_of(level->select, value)) return with_two_ends(*bounds);
  refuse_without_bounds(level, call, value);
}

Node* bound_constant(const ValueBounds& bounds, double number) {
  if (!is_temporal(bounds.type)) return float8_constant(number);
  return constant_of_text(oid_of(bounds.type), -1, InvalidOid,
                          iso_text_of_number(bounds.type, number, TextZone::kUtc));
}

// A percentile has the common type of value and bounds. With bounds of the values' own type it is
// theirs, as far as there are such bounds.
Node* bound_of_values(const ValueBounds& bounds, double number) {
  const bool has_type = bounds.type == ValueType::kNumeric ||
                        (is_whole(bounds.type) && is_number_of_value(bounds.type, bounds.lower) &&
                         is_number_of_value(bounds.type, bounds.upper));
  if (is_temporal(bounds.type) || !has_type) return bound_constant(bounds, number);
  return constant_of_text(oid_of(bounds.type), -1, InvalidOid, text_of_number(bounds.type, number));
}

Node* granularity_option(const ValueBounds& bounds) {
  const double step = *bounds.granularity;
  const char* text =
      is_temporal(bounds.type)
          ? psprintf("{\"granularity\": \"%s\"}",
                     iso_text_of_number(
                         ValueType::kInterval,
                         number_of_value(ValueType::kInterval, interval_of_step(bounds.type, step)),
                         TextZone::kUtc))
          : psprintf("{\"granularity\": %s}", decimal_text(step));
  return constant_of_text(JSONBOID, -1, InvalidOid, text);
}

// Epsilon, bounds and, for quantiles, the granularity.
List* with_bounds(const PlainLevel* level, const ValueBounds& bounds, bool has_granularity,
                  List* arguments, Node* (*constant)(const ValueBounds&, double) = bound_constant) {
  arguments = lappend(arguments, float8_constant(level->epsilon));
  arguments = lappend(arguments, constant(bounds, bounds.lower));
  arguments = lappend(arguments, constant(bounds, bounds.upper));
  if (has_granularity && bounds.granularity) {
    arguments = lappend(arguments, granularity_option(bounds));
  }
  return arguments;
}

// ---- Calls ---------------------------------------------------------------------------------

void refuse_order(const PlainLevel* level, const Aggref* call) {
  if (call->aggdistinct == NIL && call->aggorder == NIL) return;
  refuse_call(level, call,
              psprintf("DISTINCT or ORDER BY in %s would choose rows by other rows",
                       get_func_name(call->aggfnoid)),
              "Leave it out. Only count(DISTINCT column) has a private counterpart. A join by a "
              "unique key gives each row once.");
}

Aggref* make_row_count(const PlainLevel* level, const Aggref* call, Node* row) {
  refuse_order(level, call);
  Node* epsilon = float8_constant(level->epsilon);
  List* arguments = row == nullptr ? list_make1(epsilon) : list_make2(row, epsilon);
  return call_private_aggregate("dp_count", arguments, call->location);
}

Aggref* make_count(const PlainLevel* level, const Aggref* call, Node* row) {
  Node* epsilon = float8_constant(level->epsilon);
  if (call->aggdistinct != NIL) {
    return call_private_aggregate("dp_count_distinct", list_make2(argument_of(call), epsilon),
                                  call->location);
  }
  refuse_order(level, call);
  Node* counted = counts_rows(call) ? row : argument_of(call);
  if (counted != nullptr && IsA(counted, Const) && as<Const>(counted)->constisnull) {
    refuse_call(level, call, "count(NULL) is 0, whatever the rows are", "Count rows: count(*).");
  }
  List* arguments = counted == nullptr ? list_make1(epsilon) : list_make2(counted, epsilon);
  return call_private_aggregate("dp_count", arguments, call->location);
}

// sum(1), by which some tools count rows.
bool sums_ones(const Aggref* call) {
  if (strcmp(get_func_name(call->aggfnoid), "sum") != 0) return false;
  const Node* summed = argument_of(call);
  if (!IsA(summed, Const) || as<Const>(summed)->constisnull) return false;
  const auto type = find_value_type(exprType(summed));
  return type && number_of_value(*type, as<Const>(summed)->constvalue) == 1;
}

Aggref* make_moment(const PlainLevel* level, const Aggref* call, const char* name) {
  refuse_order(level, call);
  Node* value = argument_of(call);
  const ValueBounds bounds = require_bounds(level, call, value);
  return call_private_aggregate(name, with_bounds(level, bounds, false, list_make1(value)),
                                call->location);
}

// The standard aggregates of two values take float8. The private ones take numbers as they are.
Aggref* make_pair(const PlainLevel* level, const Aggref* call, const char* name) {
  refuse_order(level, call);
  List* arguments = NIL;
  List* limits = NIL;
  for (const auto* entry : each<TargetEntry>(call->args)) {
    Node* value = without_cast_to_float8(as<Node>(entry->expr));
    const ValueBounds bounds = require_bounds(level, call, value);
    arguments = lappend(arguments, value);
    limits = lappend(limits, bound_constant(bounds, bounds.lower));
    limits = lappend(limits, bound_constant(bounds, bounds.upper));
  }
  arguments = lappend(arguments, float8_constant(level->epsilon));
  return call_private_aggregate(name, list_concat(arguments, limits), call->location);
}

// The step of the values of a numeric(p, s) between these bounds, if the value grid has that many.
std::optional<double> step_of_type(const Node* value, const ValueBounds& bounds) {
  const int32 modifier = exprTypmod(value);
  if (bounds.type != ValueType::kNumeric || modifier < VARHDRSZ) return std::nullopt;
  constexpr int kMostDecimals = 9;
  const int decimals = (modifier - VARHDRSZ) & 0x7ff;  // below 0 it is above 1000
  if (decimals > kMostDecimals) return std::nullopt;
  const double steps = std::pow(10, decimals);
  const double first = bounds.lower * steps;
  const bool is_on_grid = std::abs(first - std::round(first)) <= 1e-6;
  constexpr double kMostCells = 0x1p20;
  const bool fits = (bounds.upper - bounds.lower) * steps < kMostCells;
  return is_on_grid && fits ? std::optional(1 / steps) : std::nullopt;
}

// Answers have the decimals of the type.
ValueBounds bounds_of_percentile(const PlainLevel* level, const Aggref* call, Node* value) {
  ValueBounds bounds = require_bounds(level, call, value);
  if (!bounds.granularity) bounds.granularity = step_of_type(value, bounds);
  return bounds;
}

void refuse_descending(const PlainLevel* level, const Aggref* call) {
  const auto* order = static_cast<const SortGroupClause*>(linitial(call->aggorder));
  if (get_ordering_op_for_equality_op(order->eqop, false) == order->sortop) return;
  refuse_call(level, call, "percentiles in descending order are not supported",
              "Leave out DESC and write 1 - p for p.");
}

Aggref* make_percentile(const PlainLevel* level, const Aggref* call) {
  Node* value = value_of_percentile(call);
  refuse_descending(level, call);
  auto* share = static_cast<Node*>(linitial(call->aggdirectargs));
  const bool has_several = exprType(share) == FLOAT8ARRAYOID;
  const ValueBounds bounds = bounds_of_percentile(level, call, value);
  return call_private_aggregate(
      has_several ? "dp_quantiles" : "dp_quantile",
      with_bounds(level, bounds, true, list_make2(value, share), bound_of_values), call->location);
}

bool is_whole_type(Oid type) {
  return type == INT2OID || type == INT4OID || type == INT8OID;
}

// What a cast to a narrow type takes.
struct Range {
  Oid type;
  double least;
  double largest;
};

constexpr Range kRanges[] = {
    {INT2OID, SHRT_MIN, SHRT_MAX},
    {INT4OID, INT_MIN, INT_MAX},
    {INT8OID, -0x1p63, 0x1p63 - 1024},  // the largest double below 2^63
    {FLOAT4OID, -FLT_MAX, FLT_MAX},
};

// The functions that give the lesser and the greater of two values of a type.
struct Comparison {
  Oid type;
  Oid lesser;
  Oid greater;
};

constexpr Comparison kComparisons[] = {
    {INT4OID, F_INT4SMALLER, F_INT4LARGER},
    {FLOAT8OID, F_FLOAT8SMALLER, F_FLOAT8LARGER},
    {NUMERICOID, F_NUMERIC_SMALLER, F_NUMERIC_LARGER},
};

template <class Row, std::size_t kRows>
const Row* row_of_type(const Row (&rows)[kRows], Oid type) {
  for (const Row& row : rows) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// A magnitude that no answer exceeds, or a sum so rarely as noise exceeds 2^32 times a bound.
double largest_answer(const PlainLevel* level, const Aggref* call) {
  constexpr double kMostSummed = 0x1p33;
  const Kind kind = find_counterpart(call->aggfnoid)->kind;
  const bool is_sum = kind == Kind::kMoment && !sums_ones(call);
  if (!is_sum && kind != Kind::kPercentile) return 0;
  Node* value = is_sum ? argument_of(call) : value_of_percentile(call);
  const ValueBounds bounds = require_bounds(level, call, value);
  const double largest = std::max(std::abs(bounds.lower), std::abs(bounds.upper));
  return is_sum ? largest * kMostSummed : largest;
}

// The answer or, where bounds are beyond the type, the nearest one of the type: a cast would fail
// after the charge. NULL stays NULL.
Node* within_range(const PlainLevel* level, const Aggref* call, Node* answer) {
  const bool is_array = type_is_array(call->aggtype);
  const Oid target = is_array ? get_element_type(call->aggtype) : call->aggtype;
  const Range* range = row_of_type(kRanges, target);
  if (range == nullptr || largest_answer(level, call) <= range->largest) return answer;
  const Oid type = exprType(answer);
  const Comparison* comparison = row_of_type(kComparisons, type);
  if (is_array || comparison == nullptr) {
    refuse_with_code(
        level->refused, ERRCODE_INVALID_PARAMETER_VALUE, call->location,
        psprintf("the bounds of the values are beyond type %s, in which %s answers",
                 format_type_be(target), get_func_name(call->aggfnoid)),
        "Ask the owner of the table for dp_set_domain with bounds of the column's type.");
  }
  const auto compared = [=](Oid function, Node* value, double bound) {
    Node* constant = constant_of_text(type, -1, InvalidOid, decimal_text(bound));
    return as<Node>(makeFuncExpr(function, type, list_make2(value, constant), InvalidOid,
                                 InvalidOid, COERCE_EXPLICIT_CALL));
  };
  return compared(comparison->greater, compared(comparison->lesser, answer, range->largest),
                  range->least);
}

// Answers have the type of the standard aggregate, which the client knows already.
Node* as_type(const PlainLevel* level, const Aggref* call, Node* answer) {
  const Oid type = exprType(answer);
  if (type == call->aggtype) return answer;
  Node* cast =
      coerce_to_target_type(nullptr, within_range(level, call, answer), type, call->aggtype, -1,
                            COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);
  if (cast != nullptr) return cast;
  refuse_call(
      level, call,
      psprintf("%s has no private counterpart for this type", get_func_name(call->aggfnoid)),
      psprintf("Ask %s.", call_with_own_bounds(level, call, argument_of(call))));
}

// A value with what is known of the NULL of columns.
Node* with_known_null_tests(const Level* level, Node* value) {
  bool is_known = false;
  Node* known = mapped(value, [&](const Node* node) -> Node* {
    if (!IsA(node, NullTest)) return nullptr;
    const auto* test = as<NullTest>(node);
    if (test->argisrow || may_be_null(level, as<Node>(test->arg))) return nullptr;
    is_known = true;
    return bool_constant(test->nulltesttype == IS_NOT_NULL);
  });
  return is_known ? eval_const_expressions(nullptr, known) : value;
}

// The only value of the argument of min or max, but NULL; null if there are several. Power BI adds
// max(CASE WHEN person IS NULL THEN 1 ELSE 0 END) to a number of persons.
Node* only_value(const Level* level, Node* value, Oid aggregate) {
  check_stack_depth();
  if (IsA(value, Aggref) && as<Aggref>(value)->aggfnoid == aggregate) {
    return only_value(level, argument_of(as<Aggref>(value)), aggregate);
  }
  Node* known = with_known_null_tests(level, value);
  if (IsA(known, Const)) return known;
  const auto definition = IsA(value, Var) ? definition_of(level, as<Var>(value)) : std::nullopt;
  return definition ? only_value(definition->level, definition->expression, aggregate) : nullptr;
}

Node* bound_as_answer(const PlainLevel* level, const Aggref* call, bool is_lower) {
  Node* only = only_value(level->select, argument_of(call), call->aggfnoid);
  if (only != nullptr) return as_type(level, call, only);
  const auto bounds = bounds_of(level->select, argument_of(call));
  if (!bounds) refuse_without_bounds(level, call, argument_of(call));
  Statement* statement = level->select->statement;
  statement->answered_by_bounds =
      lappend(statement->answered_by_bounds, get_func_name(call->aggfnoid));
  const double number = is_lower ? bounds->lower : bounds->upper;
  if (is_temporal(bounds->type)) return as_type(level, call, bound_constant(*bounds, number));
  // Bounds need not be values of the type.
  const ValueType type = *find_value_type(call->aggtype);
  return constant_of_text(call->aggtype, -1, InvalidOid,
                          text_of_number(type, nearest_number(type, number)));
}

// A number of different values is no more than their public list has. That is computed of the
// answer. A list may stand for other values, or lack some.
Node* at_most_listed(const PlainLevel* level, const Aggref* call, Node* answer) {
  Node* value = argument_of(call);
  if (other_value_of(level->select, value) != nullptr || lacks_many_rows(level->select, value)) {
    return answer;
  }
  const List* values = shown_values_of(level->select, value);
  const int listed = list_length(values) - (has_null(values) ? 1 : 0);
  if (listed == 0) return answer;
  auto* least = makeNode(MinMaxExpr);
  least->minmaxtype = INT8OID;
  least->op = IS_LEAST;
  least->args = list_make2(answer, makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
                                             Int64GetDatum(listed), false, FLOAT8PASSBYVAL));
  least->location = -1;
  return as<Node>(least);
}

Aggref* make_call(const PlainLevel* level, const Aggref* call, const Counterpart& counterpart,
                  Node* row) {
  switch (counterpart.kind) {
    case Kind::kCount:
      return make_count(level, call, row);
    case Kind::kPercentile:
      return make_percentile(level, call);
    case Kind::kPair:
      return make_pair(level, call, counterpart.name);
    default:
      return sums_ones(call) ? make_row_count(level, call, row)
                             : make_moment(level, call, counterpart.name);
  }
}

Node* statistics_field(const PlainLevel* level, const Aggref* valued, const char* field) {
  Aggref* statistics = make_moment(level, valued, "dp_stats");
  statistics->aggfilter = valued->aggfilter;
  return select_field(as<Node>(statistics), field);
}

// A curve of more values takes long, and is hardly more exact.
constexpr double kMostValues = 4096;
constexpr double kMostRounding = 0.5;

// An answer that is cast to real keeps 24 bits. Other types keep more than any answer tells.
constexpr double kRoundingToReal = 0x1p-24;

double most_rounding_to_real(const ValueBounds& bounds) {
  return std::max({std::abs(bounds.lower), std::abs(bounds.upper), double{FLT_MIN}}) *
         kRoundingToReal;
}

bool is_whole_number(double number) {
  return number == std::floor(number);
}

// Whether the percentile is one of whole numbers. That of percentile_cont is cast.
bool has_whole_values(const Aggref* call) {
  const Node* value = argument_of(call);
  while (IsA(value, FuncExpr)) {
    const auto* cast = as<FuncExpr>(value);
    const bool widens =
        (cast->funcformat == COERCE_IMPLICIT_CAST || cast->funcformat == COERCE_EXPLICIT_CAST) &&
        cast->funcresulttype == FLOAT8OID;
    if (!widens) return false;
    value = static_cast<const Node*>(linitial(cast->args));
  }
  return is_whole_type(exprType(value));
}

// With the step of the values, if they are few, otherwise without: then the curve is one of bins.
ValueBounds bounds_of_curve(const PlainLevel* level, const Aggref* call) {
  ValueBounds bounds = require_bounds(level, call, argument_of(call));
  if (!bounds.granularity && has_whole_values(call)) bounds.granularity = 1;
  const bool has_many =
      bounds.granularity && (bounds.upper - bounds.lower) / *bounds.granularity >= kMostValues;
  if (has_many) bounds.granularity = std::nullopt;
  return bounds;
}

Node* curve_of(const PlainLevel* level, const Aggref* call) {
  refuse_descending(level, call);
  Aggref* curve = call_private_aggregate(
      "dp_cdf",
      with_bounds(level, bounds_of_curve(level, call), true, list_make1(value_of_percentile(call))),
      call->location);
  curve->aggfilter = call->aggfilter;
  return as<Node>(curve);
}

// 0.5 is a numeric that is cast.
Node* share_of(const Aggref* call) {
  return eval_const_expressions(nullptr,
                                static_cast<Node*>(copyObjectImpl(linitial(call->aggdirectargs))));
}

}  // namespace

std::optional<double> fraction_of_percentile(const Aggref* call) {
  const Counterpart* counterpart = find_counterpart(call->aggfnoid);
  if (counterpart == nullptr || counterpart->kind != Kind::kPercentile) return std::nullopt;
  const auto* share = as<Const>(share_of(call));
  if (!IsA(share, Const) || share->consttype != FLOAT8OID || share->constisnull) {
    return std::nullopt;
  }
  const double fraction = DatumGetFloat8(share->constvalue);
  return fraction >= 0 && fraction <= 1 ? std::optional(fraction) : std::nullopt;
}

namespace {

// The answer of a curve without rows: the noise may take them all.
double answer_without_rows(const PlainLevel* level, const Aggref* call) {
  const ValueBounds bounds = require_bounds(level, call, argument_of(call));
  const double answer =
      bounds.lower + *fraction_of_percentile(call) * (bounds.upper - bounds.lower);
  return is_whole_type(call->aggtype) ? std::round(answer) : answer;
}

Node* coalesced(Node* number, double otherwise) {
  auto* first = makeNode(CoalesceExpr);
  first->coalescetype = FLOAT8OID;
  first->args = list_make2(number, float8_constant(otherwise));
  first->location = -1;
  return as<Node>(first);
}

Node* computed(const char* operation, Node* left, Node* right) {
  ParseState* state = make_parsestate(nullptr);
  List* name = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup(operation)));
  auto* result = as<Node>(make_op(state, name, left, right, nullptr, -1));
  free_parsestate(state);
  return result;
}

Node* plus(Node* number, Node* more) {
  return computed("+", number, more);
}

Node* plus(Node* number, double more) {
  return plus(number, float8_constant(more));
}

Node* times(Node* number, double factor) {
  return computed("*", number, float8_constant(factor));
}

Node* absolute(Node* number) {
  return as<Node>(makeFuncExpr(F_ABS_FLOAT8, FLOAT8OID, list_make1(number), InvalidOid, InvalidOid,
                               COERCE_EXPLICIT_CALL));
}

Node* floor_of(Node* number) {
  return as<Node>(makeFuncExpr(F_FLOOR_FLOAT8, FLOAT8OID, list_make1(number), InvalidOid,
                               InvalidOid, COERCE_EXPLICIT_CALL));
}

Node* as_float8(Node* number) {
  return coerce_to_target_type(nullptr, number, exprType(number), FLOAT8OID, -1, COERCION_EXPLICIT,
                               COERCE_EXPLICIT_CAST, -1);
}

}  // namespace

bool is_standard_aggregate(const Aggref* call) {
  return find_counterpart(call->aggfnoid) != nullptr && call->agglevelsup == 0;
}

bool counts_rows(const Aggref* call) {
  if (sums_ones(call)) return true;
  if (call->aggfnoid != F_COUNT_ && call->aggfnoid != F_COUNT_ANY) return false;
  if (call->aggstar) return true;
  const Node* counted = argument_of(call);
  return IsA(counted, Const) && !as<Const>(counted)->constisnull;
}

Node* field_of_statistics(const PlainLevel* level, const Aggref* call, const Aggref* valued,
                          const char* field) {
  return as_type(level, call, statistics_field(level, valued, field));
}

Node* error_in_statistics(const PlainLevel* level, const Aggref* call, const Aggref* valued,
                          const char* field) {
  Node* error = as_float8(statistics_field(level, valued, psprintf("%s_error", field)));
  if (call->aggtype == FLOAT4OID) {
    Node* answer = as_float8(statistics_field(level, valued, field));
    return plus(error, times(absolute(answer), kRoundingToReal));
  }
  // A count is a whole number before it gets the type of the answer.
  const bool is_rounded = is_whole_type(call->aggtype) && strcmp(field, "count") != 0;
  if (!is_rounded) return error;
  const ValueBounds bounds = require_bounds(level, valued, argument_of(valued));
  error = plus(error, kMostRounding);
  return has_whole_values(valued) && is_whole_number(bounds.lower) && is_whole_number(bounds.upper)
             ? floor_of(error)
             : error;
}

namespace {

bool counts_users(const PlainLevel* level, const Aggref* call) {
  if (call->aggdistinct == NIL || call->args == NIL) return false;
  const auto origin = origin_of(level->select, argument_of(call));
  if (!origin || !list_member_oid(level->relations, origin->relation)) return false;
  const ProtectedRelation* protection = find_protected_relation(origin->relation);
  return protection != nullptr && origin->column == protection->user_column;
}

// The number of all users has the whole epsilon (pg/protect/private_aggregate.cpp). Other counts
// have a part for each row of a user.
double epsilon_of_record(const PlainLevel* level, const Aggref* call) {
  const int rows = most_rows_of_user(level);
  if (rows == 0) return level->epsilon;
  const bool has_all = counts_users(level, call) && level->select->query->groupClause == NIL;
  return has_all ? level->epsilon : level->epsilon / rows;
}

}  // namespace

bool is_percentile_of_curve(const PlainLevel* level, const Aggref* call) {
  if (!fraction_of_percentile(call)) return false;
  const auto bounds = bounds_of(level->select, argument_of(call));
  return !bounds || !is_temporal(bounds->type);
}

Node* percentile_of_curve(const PlainLevel* level, const Aggref* call) {
  Node* quantile =
      call_function("dp_cdf_quantile", list_make2(curve_of(level, call), share_of(call)));
  return as_type(level, call, coalesced(quantile, answer_without_rows(level, call)));
}

// Values and answers that are whole numbers differ by one. An answer is rounded if its type is one
// of whole numbers, and the points of the curve are not.
Node* error_of_percentile(const PlainLevel* level, const Aggref* call) {
  const ValueBounds bounds = bounds_of_curve(level, call);
  const double otherwise = answer_without_rows(level, call);
  Node* error = coalesced(
      call_function("dp_cdf_quantile_error",
                    list_make3(curve_of(level, call), share_of(call), float8_constant(0.95))),
      Max(otherwise - bounds.lower, bounds.upper - otherwise));
  const bool has_whole_bounds = is_whole_number(bounds.lower) && is_whole_number(bounds.upper);
  const bool has_whole_grid =
      has_whole_bounds && bounds.granularity && is_whole_number(*bounds.granularity);
  const bool is_rounded = is_whole_type(call->aggtype) && !has_whole_grid;
  if (is_rounded) error = plus(error, kMostRounding);
  if (call->aggtype == FLOAT4OID) error = plus(error, most_rounding_to_real(bounds));
  const bool is_whole = has_whole_bounds && (has_whole_grid || is_rounded);
  return is_whole && has_whole_values(call) ? floor_of(error) : error;
}

namespace {

// Fractions of several percentiles in ascending order, as an array.
Node* array_of_fractions(const List* fractions) {
  auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * list_length(fractions)));
  int count = 0;
  for (const auto* number : each<const double>(fractions)) {
    values[count++] = Float8GetDatum(*number);
  }
  ArrayType* array =
      construct_array(values, count, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
  return as<Node>(
      makeConst(FLOAT8ARRAYOID, -1, InvalidOid, -1, PointerGetDatum(array), false, false));
}

}  // namespace

Node* percentile_of_several(const PlainLevel* level, const Aggref* call, const List* fractions) {
  refuse_descending(level, call);
  Node* value = value_of_percentile(call);
  const ValueBounds bounds = bounds_of_percentile(level, call, value);
  Aggref* drawn = call_private_aggregate(
      "dp_quantiles",
      with_bounds(level, bounds, true, list_make2(value, array_of_fractions(fractions)),
                  bound_of_values),
      -1);
  drawn->aggfilter = call->aggfilter;
  int number = 1;
  for (const auto* item : each<const double>(fractions)) {
    if (*item == *fraction_of_percentile(call)) break;
    ++number;
  }
  return as_type(
      level, call,
      element_of(as<Node>(drawn), as<Node>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
                                                     Int32GetDatum(number), false, true))));
}

namespace {

// How to ask for an error in the place of one that dp_error_of cannot tell.
const char* hint_of_error(const Aggref* call) {
  const Kind kind = find_counterpart(call->aggfnoid)->kind;
  if (kind == Kind::kLeast || kind == Kind::kMost) {
    return "It is a public bound, whatever the rows are, and has no error.";
  }
  const char* name = get_func_name(call->aggfnoid);
  if (strcmp(name, "var_pop") == 0 || strcmp(name, "stddev_pop") == 0) {
    return "Ask for the error of variance or stddev, which differ from it for few rows only.";
  }
  const auto type = find_value_type(exprType(argument_of(call)));
  if (type && is_temporal(*type)) {
    return "Ask for numbers: dp_error_of(avg(extract(epoch FROM duration))) gives seconds, and "
           "dp_error_of(percentile_disc(0.5) WITHIN GROUP (ORDER BY hired - date '2000-01-01')) "
           "gives days.";
  }
  return "It knows the error of count, sum, avg, variance, stddev and, for numbers and one literal "
         "fraction, percentile_cont and percentile_disc. dp_explain gives the error to expect.";
}

}  // namespace

Node* error_of_count(const PlainLevel* level, const Aggref* call) {
  if (type_is_array(call->aggtype)) {
    refuse_call(level, call,
                psprintf("dp_error_of gives one error, but %s gives several answers",
                         get_func_name(call->aggfnoid)),
                "Ask for the error of each: dp_error_of(percentile_cont(0.9) WITHIN GROUP (ORDER "
                "BY salary)).");
  }
  if (sums_ones(call)) {
    refuse_order(level, call);
  } else if (find_counterpart(call->aggfnoid)->kind != Kind::kCount) {
    refuse_call(
        level, call,
        psprintf("dp_error_of does not know the error of %s", get_func_name(call->aggfnoid)),
        hint_of_error(call));
  }
  return as_float8(call_function(
      "dp_histogram_error",
      list_make2(float8_constant(epsilon_of_record(level, call)), float8_constant(0.95))));
}

Node* count_of_rows(const Aggref* call, Node* row) {
  auto* same = static_cast<Node*>(copyObjectImpl(call));
  const FamilyRow* family = private_family(call);
  if (family == nullptr || family->family != Family::kCount) return same;
  List* arguments = list_make1(row);
  for (auto* entry : each<TargetEntry>(call->args)) {
    arguments = lappend(arguments, entry->expr);
  }
  Aggref* counted = call_private_aggregate("dp_count", arguments, call->location);
  counted->aggfilter = call->aggfilter;
  return as<Node>(counted);
}

Node* private_counterpart(const PlainLevel* level, const Aggref* call, Node* row) {
  const Counterpart& counterpart = *find_counterpart(call->aggfnoid);
  const bool is_lower = counterpart.kind == Kind::kLeast;
  if (is_lower || counterpart.kind == Kind::kMost) {
    return bound_as_answer(level, call, is_lower);
  }
  Aggref* made = make_call(level, call, counterpart, row);
  made->aggfilter = call->aggfilter;
  Node* answer = as_type(level, call, as<Node>(made));
  if (counterpart.kind == Kind::kCount && call->aggdistinct != NIL) {
    return at_most_listed(level, call, answer);
  }
  return counts_rows(call) && row == nullptr ? with_unmatched_row(level, call, answer) : answer;
}

}  // namespace dpquantile
