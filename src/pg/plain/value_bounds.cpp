#include "pg/plain/value_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "pg/grants/protection_catalog.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/public_rows.hpp"
#include "pg/plain/session_clock.hpp"
#include "pg/plain/value_range.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
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

// The unit that the first argument names; null if it names none.
const char* first_unit(const FuncExpr* call) {
  return call->args == NIL ? nullptr : unit_of_text(static_cast<const Node*>(linitial(call->args)));
}

// Which part of a time a call extracts; null for other calls.
const char* extracted_part(const FuncExpr* call) {
  const char* name = call->funcid < FirstUnpinnedObjectId ? get_func_name(call->funcid) : nullptr;
  const bool extracts =
      name != nullptr && (strcmp(name, "extract") == 0 || strcmp(name, "date_part") == 0);
  return extracts && list_length(call->args) == 2 ? first_unit(call) : nullptr;
}

// To which unit date_trunc cuts off; null for other calls.
const char* unit_of(const FuncExpr* call) {
  const char* name = get_func_name(call->funcid);
  return name != nullptr && strcmp(name, "date_trunc") == 0 ? first_unit(call) : nullptr;
}

// The number of characters. A column may declare how many there are at most.
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
  const bool is_declared = (type == VARCHAROID || type == BPCHAROID) && declared >= 1;
  return Range{0, is_declared ? declared : std::numeric_limits<double>::infinity()};
}

// An exact aggregate of rows of a person.
struct ExactAggregate {
  const char* name;
  Node* argument;     // or null
  bool counts_a_row;  // at least
  bool is_distinct;
};

// Finds ranges. It gives up after so many nodes: derived tables can double each other, level by
// level.
class RangeSearch {
 public:
  explicit RangeSearch(BoundsFor use) : use_(use) {}

  MaybeRange range_of(const Level* level, Node* expression);

 private:
  MaybeRange range_in_all_rows(const Level* level, Node* expression);
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
  MaybeRange of_type(const MaybeRange& range, Oid type) const;
  int most_rows(const Level* level) const;

  static constexpr int kMostNodes = 1000;
  int nodes_ = 0;
  BoundsFor use_;
};

// The range of an expression of which nothing is known
constexpr Range kAny = {-std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::infinity()};

// A range with both ends; what is computed with others is not known.
MaybeRange with_ends(const MaybeRange& range) {
  const bool has_ends = range && std::isfinite(range->lower) && std::isfinite(range->upper);
  return has_ends ? range : std::nullopt;
}

// Whether a day or moment, or one some hours from it, may be none that there is: bounds are
// written.
bool is_at_end_of_time(Oid type, double number) {
  constexpr auto kLeast = static_cast<double>(MIN_TIMESTAMP + 2 * USECS_PER_DAY);
  constexpr auto kMost = static_cast<double>(END_TIMESTAMP - 2 * USECS_PER_DAY);
  if (type == DATEOID) number *= static_cast<double>(USECS_PER_DAY);
  const bool is_moment = type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
  return is_moment && (number < kLeast || number > kMost);
}

MaybeRange range_of_constant(const Const* constant) {
  const auto type = type_with_bounds(constant->consttype);
  if (!type || constant->constisnull) return std::nullopt;
  const double number = constant->consttype == FLOAT4OID
                            ? static_cast<double>(DatumGetFloat4(constant->constvalue))
                            : number_of_value(*type, constant->constvalue);
  if (!std::isfinite(number) || is_at_end_of_time(constant->consttype, number)) return std::nullopt;
  return Range{number, number};
}

// What is computed without a row: a constant, or of constants. As a number of another type, if the
// two can be compared.
MaybeRange range_of_value(const Level* level, const Node* expression, Oid type) {
  if (!can_be_evaluated(expression, NIL)) return std::nullopt;
  const Const* value = evaluated(level, expression, nullptr, nullptr);
  const MaybeRange range = value == nullptr ? std::nullopt : range_of_constant(value);
  if (!range) return std::nullopt;
  const Oid own = getBaseType(exprType(expression));
  type = getBaseType(type);
  if (own == type || (is_number(own) && is_number(type))) return range;
  const TypedRange argument = {range, own};
  return range_of_call("", {&argument, 1}, type, nullptr);
}

// ---- Columns of public tables ----------------------------------------------------------------

// Reads all values of a column. Not known is the range of one with a value that is not finite.
PublicRange range_of_rows(Statement* statement, Oid relation, const Var* column) {
  PublicRange found = {relation, column->varattno, false, 0, 0};
  PublicScan scan;
  if (!ActiveSnapshotSet() ||
      !begin_scan(&scan, relation, list_make1_int(column->varattno), {}, GetActiveSnapshot())) {
    return found;
  }
  const auto* attribute = TupleDescAttr(RelationGetDescr(scan.table), column->varattno - 1);
  Const value = *makeConst(getBaseType(column->vartype), -1, InvalidOid, attribute->attlen, 0, true,
                           attribute->attbyval);
  MaybeRange all;
  bool are_finite = true;
  while (next_row(&scan)) {
    value.constvalue = slot_getattr(scan.slot, column->varattno, &value.constisnull);
    if (value.constisnull) continue;
    const MaybeRange number = range_of_constant(&value);
    are_finite = are_finite && number;
    if (number) all = all ? hull(*all, *number) : *number;
  }
  found.is_known = all && are_finite && !scan.is_too_large;
  if (found.is_known) {
    found.lower = all->lower;
    found.upper = all->upper;
    note_rows(statement, scan);
  }
  end_scan(&scan);
  return found;
}

// The range of a column of a table that may be read, whichever of its rows are joined.
MaybeRange range_in_table(const Level* level, const Var* column) {
  if (column->varlevelsup > 0 || column->varattno < 1 || !type_with_bounds(column->vartype) ||
      !is_readable_table(level, static_cast<int>(column->varno))) {
    return std::nullopt;
  }
  const Oid relation = entry_of(level, static_cast<int>(column->varno)).table->relid;
  Statement* statement = level->statement;
  const PublicRange* range = nullptr;
  for (const auto* known : each<const PublicRange>(statement->public_ranges)) {
    if (known->relation == relation && known->column == column->varattno) range = known;
  }
  if (range == nullptr) {
    auto* read = static_cast<PublicRange*>(palloc(sizeof(PublicRange)));
    *read = range_of_rows(statement, relation, column);
    statement->public_ranges = lappend(statement->public_ranges, read);
    range = read;
  }
  return range->is_known ? MaybeRange(Range{range->lower, range->upper}) : std::nullopt;
}

// ---- The time of the query -----------------------------------------------------------------

// now() and the like as calls of one constant, the start of the transaction that plans; null for
// others. A plan that is kept runs later.
Node* earliest_time(const Node* node) {
  const auto now = [] {
    return as<Node>(makeConst(TIMESTAMPTZOID, -1, InvalidOid, sizeof(TimestampTz),
                              TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()), false,
                              FLOAT8PASSBYVAL));
  };
  const auto cast = [&](Oid function, Oid type) {
    return as<Node>(makeFuncExpr(function, type, list_make1(now()), InvalidOid, InvalidOid,
                                 COERCE_EXPLICIT_CAST));
  };
  if (IsA(node, FuncExpr)) {
    const Oid function = as<FuncExpr>(node)->funcid;
    const bool is_now = function == F_NOW || function == F_TRANSACTION_TIMESTAMP ||
                        function == F_STATEMENT_TIMESTAMP;
    return is_now ? now() : nullptr;
  }
  if (!IsA(node, SQLValueFunction)) return nullptr;
  switch (as<SQLValueFunction>(node)->op) {
    case SVFOP_CURRENT_DATE:
      return cast(F_DATE_TIMESTAMPTZ, DATEOID);
    case SVFOP_CURRENT_TIMESTAMP:
      return now();
    case SVFOP_LOCALTIMESTAMP:
      return cast(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID);
    default:
      return nullptr;
  }
}

// now() and the like whenever a plan that is kept runs within a year. Then bounds of an age would
// become narrow. The day of a moment depends on the time zone.
MaybeRange range_of_time(const Level* level, const Node* expression) {
  const Node* time = earliest_time(expression);
  const Oid type = exprType(expression);
  const MaybeRange range = time == nullptr ? std::nullopt : range_of_value(level, time, type);
  if (!range) return std::nullopt;
  constexpr double kYear = 366;
  const double day = type == DATEOID ? 1 : static_cast<double>(USECS_PER_DAY);
  return Range{range->lower - day, range->upper + kYear * day};
}

// What a cast between numbers without digits of its own casts; null for others.
Node* cast_number(const Node* node) {
  if (!IsA(node, FuncExpr) || list_length(as<FuncExpr>(node)->args) != 1) return nullptr;
  const auto* cast = as<FuncExpr>(node);
  if (cast->funcformat != COERCE_IMPLICIT_CAST && cast->funcformat != COERCE_EXPLICIT_CAST) {
    return nullptr;
  }
  auto* from = static_cast<Node*>(linitial(cast->args));
  return is_number(cast->funcresulttype) && is_number(exprType(from)) ? from : nullptr;
}

// Whether a divisor is NULLIF(n, 0) of a whole number.
bool is_whole_without_zero(const Level* level, const Node* divisor) {
  while (const Node* from = cast_number(divisor)) divisor = from;
  if (!IsA(divisor, NullIfExpr)) return false;
  const auto* choice = as<NullIfExpr>(divisor);
  if (choice->opno >= FirstUnpinnedObjectId) return false;
  const auto* number = static_cast<const Node*>(linitial(choice->args));
  while (number != nullptr && !is_whole_type(exprType(number))) number = cast_number(number);
  const MaybeRange left_out =
      range_of_value(level, static_cast<const Node*>(lsecond(choice->args)), FLOAT8OID);
  return number != nullptr && left_out && left_out->lower == 0 && left_out->upper == 0;
}

// Those by the negative and by the positive numbers.
MaybeRange quotients_without_zero(const TypedRange& divided, const TypedRange& divisor, Oid type) {
  MaybeRange all;
  const auto add = [&](const Range& by) {
    if (by.lower > by.upper) return;
    const MaybeRange part = range_of_operation('/', divided, {by, divisor.type}, type);
    if (part) all = all ? hull(*all, *part) : *part;
  };
  add({divisor.range->lower, std::min(divisor.range->upper, -1.0)});
  add({std::max(divisor.range->lower, 1.0), divisor.range->upper});
  return all;
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
  const MaybeRange any = range_of(level, first);
  const MaybeRange left = name[0] == '%' ? any : with_ends(any);
  const TypedRange divided = {left, getBaseType(exprType(first))};
  const TypedRange other = {right, getBaseType(exprType(last))};
  if (name[0] == '/' && is_whole_without_zero(level, last)) {
    return quotients_without_zero(divided, other, operation->opresulttype);
  }
  return range_of_operation(name[0], divided, other, operation->opresulttype);
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
    const MaybeRange limit = range_of_value(level, argument, extreme->minmaxtype);
    if (!limit) continue;
    if (extreme->op == IS_LEAST) range.upper = std::min(range.upper, limit->upper);
    if (extreme->op == IS_GREATEST) range.lower = std::max(range.lower, limit->lower);
  }
  return range;
}

// ---- Moments that grow with the time of the query ---------------------------------------------

// Whether a moment never falls as now() grows: a cast or the beginning of a unit of it, or so much
// earlier or later.
bool grows_with_time(const Node* moment) {
  check_stack_depth();
  if (earliest_time(moment) != nullptr) return true;
  if (IsA(moment, OpExpr)) {
    const auto* sum = as<OpExpr>(moment);
    const char* name = get_opname(sum->opno);
    const bool adds = name != nullptr && (strcmp(name, "+") == 0 || strcmp(name, "-") == 0);
    return adds && list_length(sum->args) == 2 &&
           grows_with_time(static_cast<const Node*>(linitial(sum->args))) &&
           can_be_evaluated(static_cast<const Node*>(lsecond(sum->args)), NIL);
  }
  if (!IsA(moment, FuncExpr)) return false;
  const auto* call = as<FuncExpr>(moment);
  if (unit_of(call) != nullptr) {
    return list_length(call->args) == 2 &&
           grows_with_time(static_cast<const Node*>(lsecond(call->args)));
  }
  const bool is_cast = call->funcid == F_DATE_TIMESTAMPTZ || call->funcid == F_DATE_TIMESTAMP ||
                       call->funcid == F_TIMESTAMP_TIMESTAMPTZ ||
                       call->funcid == F_TIMESTAMP_DATE || call->funcid == F_TIMESTAMPTZ_DATE ||
                       call->funcid == F_TIMESTAMPTZ_TIMESTAMP;
  return is_cast && grows_with_time(static_cast<const Node*>(linitial(call->args)));
}

// The least that a moment will be whenever the query runs. Where clocks go back, it falls by some
// hours.
MaybeRange least_moment(const Level* level, const Node* moment, Oid type) {
  if (!grows_with_time(moment)) return std::nullopt;
  const Node* planned = mapped(const_cast<Node*>(moment), earliest_time);
  const MaybeRange range = range_of_value(level, planned, type);
  if (!range) return std::nullopt;
  const double day = getBaseType(type) == DATEOID ? 1 : static_cast<double>(USECS_PER_DAY);
  return Range{range->lower - day, range->upper};
}

// ---- Conditions ----------------------------------------------------------------------------

// What a comparison of an expression with a constant says of it, if it is true or if it is not.
struct Comparison {
  char direction;     // '<' or '>' of the expression and the other
  const Node* other;  // null if it is no such comparison
  bool is_strict;
};

// Whether a side of a comparison is the expression. With a moment a local time and the moment that
// it is cast to are compared alike.
bool is_compared(const Node* expression, const Node* side, const Node* other) {
  if (equal(side, expression)) return true;
  return getBaseType(exprType(other)) == TIMESTAMPTZOID &&
         equal(without_cast_to_moment(const_cast<Node*>(side)),
               without_cast_to_moment(const_cast<Node*>(expression)));
}

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
  const bool is_strict = name[1] == '\0';
  if (is_compared(expression, left, right)) return {name[0], right, is_strict};
  if (!is_compared(expression, right, left)) return {};
  return {name[0] == '<' ? '>' : '<', left, is_strict};
}

// Whether a whole number of the range has the next one beside it.
bool is_exact(const Range& range) {
  constexpr double kMost = 9007199254740992;  // 2^53
  return range.lower > -kMost && range.upper < kMost;
}

// Whether days are compared with moments, which may lie between two of them.
bool are_days_with_moments(Oid type, const Node* other) {
  return getBaseType(type) == DATEOID && getBaseType(exprType(other)) == TIMESTAMPOID;
}

// Whether values of a type, and what they are compared with, are whole numbers, days or
// microseconds.
bool has_steps(Oid type, const Node* other) {
  const Oid base = getBaseType(type);
  if (is_whole_type(base)) return is_whole_type(getBaseType(exprType(other)));
  const auto value_type = find_value_type(base);
  const Oid with = getBaseType(exprType(other));
  return value_type && is_temporal(*value_type) && base != INTERVALOID &&
         (with == base || (base == TIMESTAMPOID && with == DATEOID) ||
          are_days_with_moments(type, other));
}

// Whether the number that is compared, as days or as whole numbers, tells which value of the type
// is the next one. Moments are rounded after the year 2285.
bool is_next_known(const Range& constant, Oid type, const Node* other) {
  const double units = are_days_with_moments(type, other) ? USECS_PER_DAY : 1;
  return has_steps(type, other) && is_exact({constant.lower * units, constant.upper * units});
}

// The first or last timestamp or date that a comparison with a moment leaves, which is computed
// without a row. None if it is not known, or not to the microsecond.
MaybeRange local_limit(const Level* level, const Node* other, Oid type, bool is_least,
                       bool is_strict) {
  const Oid base = getBaseType(type);
  const bool is_local =
      (base == TIMESTAMPOID || base == DATEOID) && getBaseType(exprType(other)) == TIMESTAMPTZOID;
  const MaybeRange moment = is_local ? range_of_value(level, other, TIMESTAMPTZOID) : std::nullopt;
  if (!moment || !is_exact(*moment)) return std::nullopt;
  const int step = is_least ? 1 : -1;
  const auto at = static_cast<TimestampTz>(moment->lower) + (is_strict ? step : 0);
  const auto local = local_bound(level, at, base, is_least);
  if (!local) return std::nullopt;
  const auto number = static_cast<double>(base == DATEOID ? *local / int64{USECS_PER_DAY} : *local);
  return Range{number, number};
}

// Cuts off what an expression cannot be where a condition is true, or where it is not: false or
// NULL, of which the latter is so for a NULL expression alone. Of keys a value is left out with
// which a strict comparison compares them, if the next one is known.
void cut_off(const Level* level, const Node* expression, const Node* condition, bool is_true,
             BoundsFor use, Range* range) {
  if (is_true ? is_andclause(condition) : is_orclause(condition)) {
    for (const auto* term : each<const Node>(as<BoolExpr>(condition)->args)) {
      cut_off(level, expression, term, is_true, use, range);
    }
    return;
  }
  const Comparison comparison = comparison_of(expression, condition);
  if (comparison.other == nullptr) return;
  const bool is_least = (comparison.direction == '>') == is_true;
  const Oid type = exprType(expression);
  const MaybeRange local =
      local_limit(level, comparison.other, type, is_least,
                  use != BoundsFor::kValues && comparison.is_strict == is_true);
  MaybeRange constant = local ? local : range_of_value(level, comparison.other, type);
  const bool is_between = constant && constant->lower < constant->upper;
  const bool leaves_out = use != BoundsFor::kValues && constant && !local &&
                          (comparison.is_strict == is_true || is_between) &&
                          is_next_known(*constant, type, comparison.other);
  const double step = leaves_out ? 1 : 0;
  if (!constant && is_true && is_least) constant = least_moment(level, comparison.other, type);
  if (!constant) return;
  if (is_least) {
    range->lower = std::max(range->lower, constant->lower + step);
  } else {
    range->upper = std::min(range->upper, constant->upper - step);
  }
}

// Each result is one where its own condition is true and those before are not.
MaybeRange RangeSearch::range_of_case(const Level* level, const CaseExpr* choice) {
  MaybeRange all;
  const auto add = [&](Node* result, int conditions, const CaseWhen* own) {
    if (is_null(result)) return;
    Range range = range_of(level, result).value_or(kAny);
    for (int i = 0; i < conditions && choice->arg == nullptr; ++i) {
      cut_off(level, result, as<Node>(static_cast<CaseWhen*>(list_nth(choice->args, i))->expr),
              false, use_, &range);
    }
    if (own != nullptr && choice->arg == nullptr) {
      cut_off(level, result, as<Node>(own->expr), true, use_, &range);
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
    const MaybeRange range = range_of(level, argument);
    const bool is_divided = count == 0 && strcmp(name, "mod") == 0;
    arguments[count++] = {is_divided ? range : with_ends(range), getBaseType(exprType(argument))};
  }
  // age(born) is that of today.
  if (count == 1 && strcmp(name, "age") == 0) {
    arguments[1] = arguments[0];
    arguments[0] = {
        range_of_time(level, as<Node>(makeFuncExpr(F_NOW, TIMESTAMPTZOID, NIL, InvalidOid,
                                                   InvalidOid, COERCE_EXPLICIT_CALL))),
        TIMESTAMPTZOID};
    count = 2;
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

// The seconds of a moment, a day, a time of day or an interval with bounds. Those of a time without
// a zone are as in UTC.
MaybeRange RangeSearch::epoch_of(const Level* level, const FuncExpr* call) {
  constexpr double kEpoch = 946684800;  // of the year 2000
  constexpr double kMicroseconds = 1e6;
  auto* time = static_cast<Node*>(lsecond(call->args));
  const Oid type = exprType(time);
  const bool is_moment = type == TIMESTAMPOID || type == TIMESTAMPTZOID || type == DATEOID;
  if (!is_moment && type != TIMEOID && type != INTERVALOID) return std::nullopt;
  const MaybeRange bounds = with_ends(range_of(level, time));
  if (!bounds) return std::nullopt;
  if (type == INTERVALOID) {
    return Range{seconds_of_interval(bounds->lower), seconds_of_interval(bounds->upper)};
  }
  const double zero = is_moment ? kEpoch : 0;
  const double units = type == DATEOID ? 1.0 / SECS_PER_DAY : kMicroseconds;  // of a second
  return Range{bounds->lower / units + zero, bounds->upper / units + zero};
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
    return of_type(range_of(definition->level, definition->expression), column->vartype);
  }
  if (const List* definitions = definitions_in_branches(level, column)) {
    return of_type(range_in_branches(definitions), column->vartype);
  }
  if (use_ == BoundsFor::kAllRows) return std::nullopt;
  const auto origin = origin_of(level, as<Node>(column));
  const auto bounds = origin ? bounds_of_column(*origin, column->vartype) : std::nullopt;
  if (bounds) return Range{bounds->lower, bounds->upper};
  // Keys of public tables have lists of their own (table_keys.hpp).
  return use_ == BoundsFor::kValues ? range_in_table(level, column)
                                    : of_type(std::nullopt, column->vartype);
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
  const bool counts_a_row = call->aggstar && call->aggfilter == nullptr;
  return range_of_exact(level, {name, argument_of(call), counts_a_row, call->aggdistinct != NIL});
}

// How many different values an expression has, if a list has all of them.
double distinct_values(const Level* level, const Node* expression) {
  if (exprType(expression) == BOOLOID) return 2;
  const auto origin = origin_of(level, expression);
  const ColumnDomain* domain = origin ? find_domain(origin->relation, origin->column) : nullptr;
  // One that stands for others is several.
  if (domain == nullptr || domain->keys == nullptr || domain->other != 0) return kAny.upper;
  const int listed = ArrayGetNItems(ARR_NDIM(domain->keys), ARR_DIMS(domain->keys));
  return array_contains_nulls(domain->keys) ? listed - 1 : listed;
}

// The range of a value that is not NULL, of which this range is known: for kAllNumbers no number is
// beyond its type.
MaybeRange RangeSearch::of_type(const MaybeRange& range, Oid type) const {
  const MaybeRange all =
      use_ == BoundsFor::kAllNumbers ? range_of_whole_type(getBaseType(type)) : std::nullopt;
  if (!range || !all) return range ? range : all;
  return Range{std::max(range->lower, all->lower), std::min(range->upper, all->upper)};
}

// How many rows of a person a level has; 0 if there is no limit.
int RangeSearch::most_rows(const Level* level) const {
  const bool is_limited = use_ == BoundsFor::kValues || use_ == BoundsFor::kKeys;
  return is_limited ? level->most_rows_in_from : 0;
}

MaybeRange RangeSearch::range_of_exact(const Level* level, const ExactAggregate& call) {
  const int rows = most_rows(level);
  constexpr double kMostRows = 0x1p63;  // of any table
  const double unlimited = use_ == BoundsFor::kAllNumbers ? kMostRows : kAny.upper;
  if (strcmp(call.name, "count") == 0) {
    const double least = call.counts_a_row && rows != 1 ? 1 : 0;
    const double most = rows == 0 ? unlimited : static_cast<double>(rows);
    return Range{least,
                 call.is_distinct ? std::min(most, distinct_values(level, call.argument)) : most};
  }
  const MaybeRange range =
      call.argument == nullptr ? MaybeRange() : with_ends(range_of(level, call.argument));
  if (!range || is_between(call.name)) return range;
  if (strcmp(call.name, "sum") != 0) return std::nullopt;
  if (rows == 0) {
    return Range{range->lower < 0 ? range->lower * unlimited : range->lower,
                 range->upper > 0 ? range->upper * unlimited : range->upper};
  }
  return Range{std::min(range->lower, range->lower * rows),
               std::max(range->upper, range->upper * rows)};
}

// The frame without a clause has the row itself.
bool has_default_frame(const Level* level, const WindowFunc* call) {
  for (const auto* window : each<const WindowClause>(level->query->windowClause)) {
    if (window->winref == call->winref) {
      return (window->frameOptions & FRAMEOPTION_NONDEFAULT) == 0;
    }
  }
  return false;
}

// A window function over the rows of a person: the number of a row is at most that of all of them,
// and a value of another row is one of its column, or NULL.
MaybeRange RangeSearch::range_of_window(const Level* level, const WindowFunc* call) {
  const char* name = get_func_name(call->winfnoid);
  if (name == nullptr || !level->windows_persons) return std::nullopt;
  const int rows = most_rows(level);
  for (const char* number : {"row_number", "rank", "dense_rank"}) {
    if (strcmp(name, number) == 0) return Range{1, rows == 0 ? kAny.upper : rows};
  }
  for (const char* value : {"lag", "lead", "first_value", "last_value", "nth_value"}) {
    if (strcmp(name, value) != 0) continue;
    Node* other = list_length(call->args) > 2 ? static_cast<Node*>(lthird(call->args)) : nullptr;
    return range_of_any(level, list_make2(linitial(call->args), other));
  }
  Node* first = call->args == NIL ? nullptr : static_cast<Node*>(linitial(call->args));
  if (strcmp(name, "ntile") == 0) {
    const MaybeRange parts = range_of(level, first);
    return parts ? MaybeRange(Range{1, parts->upper}) : std::nullopt;
  }
  if (!call->winagg) return std::nullopt;
  const bool counts_a_row =
      call->winstar && call->aggfilter == nullptr && has_default_frame(level, call);
  return range_of_exact(level, {name, first, counts_a_row, false});
}

// Where WHERE leaves one number of a range, or none: that, or the end of the range next to it.
Range nearest_end(const Range& range, const Range& cut) {
  const double number = std::clamp(cut.lower, range.lower, range.upper);
  const double end = cut.upper < range.lower ? range.lower : number;
  return {end, end};
}

// WHERE says of a value what a condition of CASE does.
MaybeRange RangeSearch::range_of(const Level* level, Node* expression) {
  CHECK_FOR_INTERRUPTS();
  check_stack_depth();
  if (++nodes_ > kMostNodes) return std::nullopt;
  const MaybeRange range = range_in_all_rows(level, expression);
  const Node* condition = level->query->jointree->quals;
  if (condition == nullptr || !type_with_bounds(exprType(expression))) return range;
  Range cut = range.value_or(kAny);
  cut_off(level, expression, condition, true, use_, &cut);
  const bool is_known = std::isfinite(cut.lower) || std::isfinite(cut.upper);
  if (is_known && cut.lower < cut.upper) return cut;
  if (use_ == BoundsFor::kValues || !with_ends(range)) return range;
  return nearest_end(*range, cut);
}

MaybeRange RangeSearch::range_in_all_rows(const Level* level, Node* expression) {
  if (const MaybeRange range = range_of_time(level, expression)) return range;
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

// The bounds of a column that WHERE cuts off; those of values at a step of the column's own.
ValueBounds within(const ValueBounds& column, const Range& range, BoundsFor use) {
  ValueBounds bounds = column;
  if (use != BoundsFor::kValues || !column.granularity) {
    // Dates and times are whole numbers.
    const bool rounds = is_temporal(column.type);
    bounds.lower = rounds ? std::floor(range.lower) : range.lower;
    bounds.upper = rounds ? std::ceil(range.upper) : range.upper;
    return bounds;
  }
  const double step = *column.granularity;
  bounds.lower = column.lower + step * std::floor((range.lower - column.lower) / step);
  bounds.upper = column.upper - step * std::floor((column.upper - range.upper) / step);
  return bounds;
}

}  // namespace

const char* unit_of_text(const Node* expression) {
  if (!IsA(expression, Const) || exprType(expression) != TEXTOID) return nullptr;
  const auto* constant = as<Const>(expression);
  if (constant->constisnull) return nullptr;
  constexpr std::pair<const char*, const char*> kUnits[] = {{"second", "s sec secs seconds"},
                                                            {"minute", "m min mins minutes"},
                                                            {"hour", "h hr hrs hours"},
                                                            {"day", "d days"},
                                                            {"week", "w weeks"},
                                                            {"month", "mon mons months"},
                                                            {"quarter", "qtr"},
                                                            {"year", "y yr yrs years"},
                                                            {"decade", "dec decs decades"},
                                                            {"century", "c cent centuries"}};
  const char* written = TextDatumGetCString(constant->constvalue);
  const char* name = asc_tolower(written, strlen(written));
  for (const auto& [unit, others] : kUnits) {
    if (is_one_of(name, others)) return unit;
  }
  return name;
}

bool is_epoch(const FuncExpr* call) {
  const char* part = extracted_part(call);
  return part != nullptr && strcmp(part, "epoch") == 0;
}

std::optional<ValueBounds> bounds_of(const Level* level, Node* expression, BoundsFor use) {
  const auto type = type_with_bounds(exprType(expression));
  if (!type) return std::nullopt;
  const auto origin = use == BoundsFor::kAllRows ? std::nullopt : origin_of(level, expression);
  const auto of_column =
      origin ? bounds_of_column(*origin, exprType(expression)) : std::optional<ValueBounds>();
  const MaybeRange range = with_ends(RangeSearch(use).range_of(level, expression));
  if (!range || !(range->lower <= range->upper)) return of_column;
  const bool is_one_number = range->lower == range->upper;
  const bool needs_two = use == BoundsFor::kValues;
  if (needs_two && is_one_number && (of_column || is_temporal(*type))) return of_column;
  if (of_column) return within(*of_column, *range, use);
  // Bounds of dates and times are dates and times.
  const bool rounds = is_temporal(*type);
  return ValueBounds{*type, rounds ? std::floor(range->lower) : range->lower,
                     rounds ? std::ceil(range->upper) : range->upper,
                     granularity_through_casts(level, expression)};
}

}  // namespace dpquantile
