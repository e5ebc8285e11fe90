#include "pg/plain/key_conditions.hpp"

#include <utility>

#include "pg/borrowed/early_values.hpp"
#include "pg/grants/refusal.hpp"
#include "pg/plain/clock_changes.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/time_keys.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/server/array_constant.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_node.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

// ---- Terms about keys ----------------------------------------------------------------------

// Whether there is a column that is no key, or what may differ from one evaluation to the next.
bool is_of_rows(const Node* term, const List* keys) {
  return search(term, [&](Node* node) {
    if (list_member(keys, node)) return Look::kPast;
    const bool is_column = IsA(node, Var) && as<Var>(node)->varlevelsup == 0;
    return is_column || IsA(node, SubLink) ? Look::kFound : Look::kBelow;
  });
}

// ---- Keys that never fall ------------------------------------------------------------------

bool is_free_of_columns(Node* node) {
  return !contain_var_clause(node) && !contain_volatile_functions(node) &&
         !contain_subplans(node) && !contain_agg_clause(node);
}

Node* folded(const Node* node) {
  return eval_const_expressions(nullptr, static_cast<Node*>(copyObjectImpl(node)));
}

// The number that an expression always has.
std::optional<double> constant_number(const Node* given) {
  const Node* node = folded(given);
  if (!IsA(node, Const)) return std::nullopt;
  const auto* constant = as<Const>(node);
  const auto type = find_value_type(constant->consttype);
  if (!type || is_temporal(*type) || constant->constisnull) return std::nullopt;
  return number_of_value(*type, constant->constvalue);
}

bool is_positive(const Node* given) {
  return constant_number(given).value_or(0) > 0;
}

Node* grown(Node* node);

// Finds the growing part of a number plus, minus, times or divided by a constant.
Node* growing_operand(const OpExpr* operation) {
  const char* name = get_opname(operation->opno);
  if (operation->opno >= FirstUnpinnedObjectId || name == nullptr ||
      list_length(operation->args) != 2 ||
      !is_free_of_columns(static_cast<Node*>(lsecond(operation->args)))) {
    return nullptr;
  }
  auto* left = static_cast<Node*>(linitial(operation->args));
  const auto* right = static_cast<const Node*>(lsecond(operation->args));
  const bool is_number = find_value_type(exprType(left)) && find_value_type(exprType(right)) &&
                         !is_temporal(*find_value_type(exprType(left)));
  if (!is_number) return nullptr;
  const bool is_product = is_one_of(name, "* /") && is_positive(right);
  return is_product || is_one_of(name, "+ -") ? grown(left) : nullptr;
}

// The operand of width_bucket with buckets that ascend.
Node* bucketed_operand(const FuncExpr* call) {
  if (list_length(call->args) != 4) return nullptr;
  const auto low = constant_number(static_cast<const Node*>(lsecond(call->args)));
  const auto high = constant_number(static_cast<const Node*>(lthird(call->args)));
  const auto count = constant_number(static_cast<const Node*>(lfourth(call->args)));
  return low && high && *low < *high && count ? grown(static_cast<Node*>(linitial(call->args)))
                                              : nullptr;
}

// Other numbers may be too large for the integer.
Node* year_as_integer(Node* number) {
  if (!IsA(number, FuncExpr)) return nullptr;
  const auto* call = as<FuncExpr>(number);
  if (call->funcid == F_TRUNC_NUMERIC)
    return year_as_integer(static_cast<Node*>(linitial(call->args)));
  return moment_of_year(call);
}

Node* growing_argument(const FuncExpr* call) {
  if (Node* moment = moment_of(call)) return moment;
  if (Node* moment = moment_of_year(call)) return moment;
  const char* name = call->funcid < FirstUnpinnedObjectId ? get_func_name(call->funcid) : nullptr;
  if (name == nullptr) return nullptr;
  const bool never_falls = list_length(call->args) == 1 &&
                           is_one_of(name, "floor ceil ceiling round trunc date numeric float8");
  if (never_falls) return grown(static_cast<Node*>(linitial(call->args)));
  if (is_one_of(name, "width_bucket")) return bucketed_operand(call);
  if (call->funcid == F_INT4_NUMERIC || call->funcid == F_INT8_NUMERIC) {
    return year_as_integer(static_cast<Node*>(linitial(call->args)));
  }
  const bool is_start_of_day =
      call->funcid == F_TIMESTAMPTZ_DATE || call->funcid == F_TIMESTAMP_DATE;
  if (is_start_of_day) return grown(static_cast<Node*>(linitial(call->args)));
  return is_epoch(call) ? static_cast<Node*>(lsecond(call->args)) : nullptr;
}

// The part of which a key is a function that never falls; null if none is known.
Node* growing_part(Node* key) {
  if (IsA(key, FuncExpr)) return growing_argument(as<FuncExpr>(key));
  return IsA(key, OpExpr) ? growing_operand(as<OpExpr>(key)) : nullptr;
}

// The same of a part of a key, which may be the column itself.
Node* grown(Node* node) {
  check_stack_depth();
  return IsA(node, Var) ? node : growing_part(node);
}

struct Comparison {
  char sign;  // < for at most, > for at least, = for both
  bool is_strict;
  Node* with;
};

char turned(char sign) {
  return sign == '<' ? '>' : sign == '>' ? '<' : sign;
}

// Whether a side of a comparison is the part. With a moment a local time and the moment that it is
// cast to are compared alike.
bool is_compared(const Node* part, Node* side, const Node* other) {
  if (equal(side, part)) return true;
  return exprType(other) == TIMESTAMPTZOID &&
         equal(without_cast_to_moment(side), without_cast_to_moment(const_cast<Node*>(part)));
}

// How a term compares a part with something without columns.
std::optional<Comparison> comparison_with(const Node* term, const Node* part) {
  if (!IsA(term, OpExpr)) return std::nullopt;
  const auto* operation = as<OpExpr>(term);
  const char* name = get_opname(operation->opno);
  if (operation->opno >= FirstUnpinnedObjectId || name == nullptr ||
      list_length(operation->args) != 2 || operation->opresulttype != BOOLOID) {
    return std::nullopt;
  }
  if (!is_one_of(name, "< <= > >= =")) return std::nullopt;
  const bool is_strict = name[0] != '=' && name[1] == '\0';
  auto* left = static_cast<Node*>(linitial(operation->args));
  auto* right = static_cast<Node*>(lsecond(operation->args));
  if (is_compared(part, left, right)) return Comparison{name[0], is_strict, right};
  if (is_compared(part, right, left)) return Comparison{turned(name[0]), is_strict, left};
  return std::nullopt;
}

// Whether a part is local time that is compared with a moment.
bool is_local_time(const Node* part, const Node* with) {
  const Oid type = exprType(part);
  return (type == TIMESTAMPOID || type == DATEOID) && exprType(with) == TIMESTAMPTZOID;
}

// `with` as a value of the part's type, or as the moment with which local time is compared; null if
// only a cast by the user would do.
Node* as_part(Node* with, const Node* part) {
  const Oid type = exprType(part);
  if (exprType(with) == type || is_local_time(part, with)) return with;
  return coerce_to_target_type(nullptr, with, exprType(with), type, -1, COERCION_IMPLICIT,
                               COERCE_IMPLICIT_CAST, -1);
}

// An operator of PostgreSQL's own.
Node* compared(const char* sign, Node* left, Node* right) {
  ParseState* state = make_parsestate(nullptr);
  List* name = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup(sign)));
  auto* made = as<Node>(make_op(state, name, left, right, nullptr, -1));
  free_parsestate(state);
  return made;
}

Node* interval_constant(int64 microseconds) {
  auto* length = static_cast<Interval*>(palloc0(sizeof(Interval)));
  length->time = microseconds;
  return as<Node>(makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval),
                            IntervalPGetDatum(length), false, false));
}

Node* one_day() {
  return as<Node>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(1), false, true));
}

// A moment later than another one; a constant, where that is one, so that its key can be computed.
Node* later_moment(const Node* moment, int64 microseconds) {
  if (IsA(moment, Const) && exprType(moment) == TIMESTAMPTZOID) {
    auto* later = static_cast<Const*>(copyObjectImpl(moment));
    if (!later->constisnull) {
      later->constvalue =
          TimestampTzGetDatum(DatumGetTimestampTz(later->constvalue) + microseconds);
    }
    return as<Node>(later);
  }
  return compared("+", static_cast<Node*>(copyObjectImpl(moment)), interval_constant(microseconds));
}

bool is_null(const Node* with) {
  return IsA(with, Const) && as<Const>(with)->constisnull;
}

// What a key is at a moment, as a constant if it can be computed. Null if it is nothing.
Node* key_at_moment(const Level* level, const Node* key, const Node* part, const Node* moment) {
  Node* at = with_part(key, part, moment);
  return can_be_evaluated(at, NIL) ? as<Node>(evaluated(level, at, nullptr, nullptr)) : at;
}

// A key where a condition holds, else NULL, of which LEAST and GREATEST know nothing.
Node* key_if(Node* condition, Node* key) {
  CaseWhen* when = makeNode(CaseWhen);
  when->expr = as<Expr>(condition);
  when->result = as<Expr>(key);
  when->location = -1;
  CaseExpr* choice = makeNode(CaseExpr);
  choice->casetype = exprType(key);
  choice->casecollid = exprCollation(key);
  choice->args = list_make1(when);
  choice->defresult = as<Expr>(null_like(key));
  choice->location = -1;
  return as<Node>(choice);
}

// The keys at the falls of clocks from a moment on (IS_LEAST), or right before those up to it.
// False if they are not known.
bool add_keys_at_falls(const Level* level, const Node* key, const Node* part, const Const* from,
                       MinMaxOp op, List** keys) {
  const TimestampTz moment = DatumGetTimestampTz(from->constvalue);
  const bool is_least = op == IS_LEAST;
  List* falls = NIL;
  if (!falls_of_clocks(level, key, is_least ? moment + 1 : moment - kLongestFall,
                       is_least ? moment + kLongestFall : moment, &falls)) {
    return false;
  }
  for (const auto* fall : each<const Node>(falls)) {
    Node* at = key_at_moment(level, key, part, later_moment(fall, is_least ? 0 : -1));
    if (at != nullptr) *keys = lappend(*keys, at);
  }
  return true;
}

struct Moments {
  TimestampTz first;
  TimestampTz last;
};

Moments years_of_falls() {
  constexpr int64 kYear = 366 * USECS_PER_DAY;
  const TimestampTz now = GetCurrentTransactionStartTimestamp();
  return {now - 10 * kYear, now + kYear};
}

// The same where the moment is known only when the query runs: of each fall from ten years before
// the query to one after it, if the moment is before it, or after it. For other moments it is the
// key of one that is earlier, or later, by more than local times fall.
bool add_keys_at_any_falls(const Level* level, const Node* key, const Node* part, Node* from,
                           MinMaxOp op, List** keys) {
  if (have_one_offset(level, key)) return true;
  const auto [first, last] = years_of_falls();
  const bool is_least = op == IS_LEAST;
  List* falls = NIL;
  if (!falls_of_clocks(level, key, first - kLongestFall, last + kLongestFall, &falls)) return false;
  const auto compared_with = [&](const char* sign, Node* moment) {
    return compared(sign, static_cast<Node*>(copyObjectImpl(from)), moment);
  };
  for (auto* fall : each<Node>(falls)) {
    Node* at = key_at_moment(level, key, part, later_moment(fall, is_least ? 0 : -1));
    if (at != nullptr) {
      *keys = lappend(*keys, key_if(compared_with(is_least ? "<" : ">=", fall), at));
    }
  }
  List* far = list_make2(compared_with("<", as<Node>(moment_at(TIMESTAMPTZOID, first))),
                         compared_with(">", as<Node>(moment_at(TIMESTAMPTZOID, last))));
  Node* beyond = later_moment(from, is_least ? -kLongestFall : kLongestFall);
  *keys = lappend(*keys,
                  key_if(as<Node>(makeBoolExpr(OR_EXPR, far, -1)), with_part(key, part, beyond)));
  return true;
}

Node* extreme_of(const Node* key, MinMaxOp op, List* keys) {
  MinMaxExpr* extreme = makeNode(MinMaxExpr);
  extreme->op = op;
  extreme->minmaxtype = exprType(key);
  extreme->minmaxcollid = exprCollation(key);
  extreme->location = -1;
  extreme->args = keys;
  return as<Node>(extreme);
}

// What is computed without a row as a constant, if it is known now.
Node* known_value(const Level* level, Node* with) {
  if (IsA(with, Const) || !can_be_evaluated(with, NIL)) return with;
  return as<Node>(evaluated(level, with, nullptr, nullptr));
}

// The key of the part's value, or, where local times fall as a clock goes back, the least of the
// keys from there on (IS_LEAST), or the greatest up to there. Null if it is not known.
Node* key_at(const Level* level, const Node* key, const Node* part, Node* with, MinMaxOp op) {
  if (jump_by_days(level, key)) return nullptr;
  Node* at = with_part(key, part, with);
  if (exprType(part) != TIMESTAMPTZOID) return at;
  with = known_value(level, with);
  if (with == nullptr || is_null(with)) return at;
  List* keys = list_make1(at);
  const bool is_known = IsA(with, Const)
                            ? add_keys_at_falls(level, key, part, as<Const>(with), op, &keys)
                            : add_keys_at_any_falls(level, key, part, with, op, &keys);
  if (!is_known) return nullptr;
  if (list_length(keys) == 1) return at;
  level->statement->has_values_of_time_zone = true;
  return extreme_of(key, op, keys);
}

Node* cast_by(Oid function, Oid type, Node* from) {
  return as<Node>(
      makeFuncExpr(function, type, list_make1(from), InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST));
}

// The local time of a moment, or the first day that begins no earlier (IS_LEAST), or the last one.
Node* local_time_of(Node* moment, Oid type, MinMaxOp op) {
  Node* local = cast_by(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID, moment);
  if (type != DATEOID) return local;
  if (op == IS_GREATEST) return cast_by(F_DATE_TIMESTAMP, DATEOID, local);
  Node* before = cast_by(F_DATE_TIMESTAMP, DATEOID, later_moment(local, -1));
  return compared("+", before, one_day());
}

// The key of a local time, or day, that is compared with a moment: of the first that is no earlier
// (IS_LEAST), or of the last that is no later, or one beyond. Null if it is not known.
//
// If a moment is known only when the query runs, its key is that of its local time. Each other
// local time has a moment of its own, which is as late. Only the moments of times that a clock
// skips follow the change by as much as these follow the first of them.
Node* key_at_moment_of_clock(const Level* level, const Node* key, const Node* part, Node* with,
                             MinMaxOp op) {
  with = known_value(level, with);
  if (with == nullptr) return nullptr;
  const Oid type = exprType(part);
  if (IsA(with, Const) && !is_null(with)) {
    const auto bound =
        local_bound(level, DatumGetTimestampTz(as<Const>(with)->constvalue), type, op == IS_LEAST);
    return bound ? key_at(level, key, part, as<Node>(moment_at(type, *bound)), op) : nullptr;
  }
  const auto [first, last] = years_of_falls();
  level->statement->has_values_of_time_zone = true;
  List* gaps = NIL;
  if (!gaps_of_clock(first - kLongestFall, last + kLongestFall, &gaps)) return nullptr;
  Node* moment = parameter_of(TIMESTAMPTZOID);
  Node* at = key_at(level, with_part(key, part, local_time_of(moment, type, op)), moment, with, op);
  if (at == nullptr || op == IS_GREATEST || is_null(with)) return at;
  List* keys = list_make1(at);
  for (const auto* gap : each<const ClockGap>(gaps)) {
    const auto compared_with = [&](const char* sign, TimestampTz change) {
      return compared(sign, static_cast<Node*>(copyObjectImpl(with)),
                      as<Node>(moment_at(TIMESTAMPTZOID, change)));
    };
    Node* is_skipped = as<Node>(makeBoolExpr(
        AND_EXPR,
        list_make2(compared_with(">=", gap->at), compared_with("<", gap->at + gap->length)), -1));
    keys = lappend(keys,
                   key_if(is_skipped, with_part(key, part, as<Node>(moment_at(type, gap->first)))));
  }
  return extreme_of(key, op, keys);
}

// The part of a part, of which it is such a function, too: of date_trunc('month', at AT TIME ZONE
// 'UTC') also `at`.
Node* next_part(Node* part) {
  Node* next = growing_part(part);
  return next != nullptr ? next : moment_of_local_time(part);
}

// Whether a constant bound is infinite, or so near to it that no moment may be some hours from it.
bool is_at_end_of_time(const Node* with) {
  if (!IsA(with, Const) || as<Const>(with)->constisnull) return false;
  const auto* constant = as<Const>(with);
  switch (constant->consttype) {
    case DATEOID:
      return DATE_NOT_FINITE(DatumGetDateADT(constant->constvalue));
    case TIMESTAMPOID:
    case TIMESTAMPTZOID: {
      const Timestamp moment = DatumGetTimestamp(constant->constvalue);
      return moment < MIN_TIMESTAMP + USECS_PER_DAY || moment >= END_TIMESTAMP - USECS_PER_DAY;
    }
    default:
      return false;
  }
}

// Whether the key of a bound cannot be computed: no value near the bound has a key, so that the
// bound leaves out no key, or all. Bounds that are known only when the query runs are not looked
// at.
bool has_no_value(const Level* level, const Node* key_of_bound) {
  return can_be_evaluated(key_of_bound, NIL) &&
         evaluated(level, key_of_bound, nullptr, nullptr) == nullptr;
}

// Adds the nodes of copies of the key to `copied`.
List* terms_of_part(const Level* level, Node* key, const Node* new_key, Node* part,
                    const Node* term, int* copied) {
  const auto comparison = comparison_with(term, part);
  if (!comparison || !is_free_of_columns(comparison->with)) return NIL;
  Node* with = as_part(comparison->with, part);
  if (with == nullptr || is_at_end_of_time(with)) return NIL;
  const Oid type = exprType(with);
  const bool is_moment = type == TIMESTAMPOID || type == TIMESTAMPTZOID;
  // The latest moment or day before.
  if (comparison->sign == '<' && comparison->is_strict) {
    if (is_moment) with = later_moment(with, -1);
    if (type == DATEOID) with = compared("-", with, one_day());
  }
  // The earliest moment after.
  if (comparison->sign == '>' && comparison->is_strict && is_local_time(part, with)) {
    with = later_moment(with, 1);
  }
  List* terms = NIL;
  const auto add_term = [&](const char* sign, MinMaxOp op) {
    Node* key_of_bound = is_local_time(part, with)
                             ? key_at_moment_of_clock(level, key, part, with, op)
                             : key_at(level, key, part, with, op);
    if (key_of_bound == nullptr) return;
    *copied += count_nodes(key_of_bound, kMostExpressionNodes);
    require_few_nodes({}, *copied, kNowhere);
    if (!is_null(with) && has_no_value(level, key_of_bound)) return;
    auto* column = static_cast<Node*>(copyObjectImpl(new_key));
    terms = lappend(terms, compared(sign, column, key_of_bound));
  };
  if (comparison->sign != '<') add_term(">=", IS_LEAST);
  if (comparison->sign != '>') add_term("<=", IS_GREATEST);
  return terms;
}

List* implied_terms(const Level* level, Node* key, const Node* new_key, const Node* term,
                    int* copied) {
  List* terms = NIL;
  for (Node* part = growing_part(key); part != nullptr; part = next_part(part)) {
    terms = list_concat(terms, terms_of_part(level, key, new_key, part, term, copied));
  }
  return terms;
}

bool has_outer_column(const Node* term) {
  return any_node(
      term, [](const Node* node) { return IsA(node, Var) && as<Var>(node)->varlevelsup > 0; });
}

// ---- Joined lists --------------------------------------------------------------------------

// What a query in FROM shows is of VALUES as they are written: no NULL is added to them.
bool adds_no_nulls(const Query* query) {
  return list_length(query->jointree->fromlist) == 1 && query->groupingSets == NIL &&
         IsA(linitial(query->jointree->fromlist), RangeTblRef);
}

// The values of a column of VALUES in FROM, also of a derived table of VALUES: List of List. NIL if
// it is a column of something else.
List* list_of_column(const Level* level, const Node* side, int* number) {
  const auto* column = as<Var>(without_relabel(const_cast<Node*>(side)));
  if (!IsA(column, Var) || column->varlevelsup > 0 || column->varattno < 1) return NIL;
  const RangeTblEntry* list = rt_fetch(column->varno, level->query->rtable);
  *number = column->varattno - 1;
  if (list->rtekind == RTE_VALUES) return list->values_lists;
  const auto shown = definition_of(level, column);
  if (!shown || !adds_no_nulls(shown->level->query)) return NIL;
  return list_of_column(shown->level, shown->expression, number);
}

// These as an array; null if there are none, or too many, or NULL is among them.
Const* array_of_list(const Level* level, const Node* side) {
  int number = 0;
  const List* rows = list_of_column(level, side, &number);
  const int count = list_length(rows);
  if (count == 0 || count > kMaxElements || !OidIsValid(get_array_type(exprType(side)))) {
    return nullptr;
  }
  auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(count)));
  int known = 0;
  for (const auto* row : each<const List>(rows)) {
    const auto* value = as<Const>(folded(static_cast<const Node*>(list_nth(row, number))));
    if (!IsA(value, Const) || value->constisnull) return nullptr;
    values[known++] = value->constvalue;
  }
  auto* made = as<Const>(array_constant(values, known, exprType(side), exprCollation(side)));
  return is_too_large(made->constvalue, made->consttype) ? nullptr : made;
}

// Whether a term compares by = or IS NOT DISTINCT FROM; then the comparison, as one by =.
const OpExpr* equality_of(const Node* term) {
  const bool is_negated = is_notclause(term);
  const Node* inner = is_negated ? as<Node>(get_notclausearg(term)) : term;
  if (inner == nullptr || (is_negated ? !IsA(inner, DistinctExpr) : !IsA(inner, OpExpr))) {
    return nullptr;
  }
  const auto* comparison = as<OpExpr>(inner);
  const bool is_binary = list_length(comparison->args) == 2;
  return is_binary && is_one_of(get_opname(comparison->opno), "=") ? comparison : nullptr;
}

// Where a key is equal to a column of VALUES, it is one of the values of the column.
Node* term_of_list(const Level* level, const List* keys, const List* new_keys, const Node* term) {
  const OpExpr* equality = equality_of(term);
  if (equality == nullptr) return nullptr;
  auto* key = static_cast<Node*>(linitial(equality->args));
  auto* other = static_cast<Node*>(lsecond(equality->args));
  const bool is_turned = is_of_rows(key, keys);
  if (is_turned) std::swap(key, other);
  const Const* values = is_of_rows(key, keys) ? nullptr : array_of_list(level, other);
  if (values == nullptr) return nullptr;
  auto* new_key = mapped(key, [&](Node* node) { return counterpart(keys, new_keys, node); });
  ScalarArrayOpExpr* made = makeNode(ScalarArrayOpExpr);
  made->opno = is_turned ? get_commutator(equality->opno) : equality->opno;
  if (!OidIsValid(made->opno)) return nullptr;
  made->opfuncid = get_opcode(made->opno);
  made->useOr = true;
  made->inputcollid = equality->inputcollid;
  made->args = list_make2(new_key, const_cast<Const*>(values));
  made->location = -1;
  if (!is_notclause(term)) return as<Node>(made);
  NullTest* is_unknown = makeNode(NullTest);
  is_unknown->arg = as<Expr>(copyObjectImpl(new_key));
  is_unknown->nulltesttype = IS_NULL;
  is_unknown->location = -1;
  return as<Node>(makeBoolExpr(OR_EXPR, list_make2(made, is_unknown), -1));
}

// The terms of WHERE and, if no join is an outer one, of ON.
List* terms_of_joins(const Query* query) {
  List* terms = terms_of(query->jointree->quals);
  if (any_node(query->jointree, is_outer_join)) return terms;
  visit_nodes(query->jointree->fromlist, [&](const Node* node) {
    if (IsA(node, JoinExpr)) terms = list_concat(terms, terms_of(as<JoinExpr>(node)->quals));
  });
  return terms;
}

// ---- Queries in FROM -----------------------------------------------------------------------

// A key as an expression of the columns of one query in FROM, in whose level it is then; of none
// if it has columns of others. An outer join may add rows, whose columns are NULL.
LevelExpression in_query_below(const Level* level, Node* key) {
  // Queries in FROM can double a key each, one after the other.
  constexpr int kMostColumns = 16;
  const Level* below = nullptr;
  int columns = 0;
  bool has_others = false;
  Node* found = mapped(key, [&](Node* node) -> Node* {
    if (!IsA(node, Var) || as<Var>(node)->varlevelsup > 0) return nullptr;
    const auto definition = definition_of(level, as<Var>(node));
    const bool is_below = definition && definition->level != level;
    has_others = has_others || !is_below || (below != nullptr && definition->level != below) ||
                 ++columns > kMostColumns;
    if (has_others) return node;
    below = definition->level;
    return static_cast<Node*>(copyObjectImpl(definition->expression));
  });
  return has_others || below == nullptr ? LevelExpression{} : LevelExpression{below, found};
}

}  // namespace

namespace {

void add_terms_of_all_rows(const Node* from, List** terms) {
  if (IsA(from, FromExpr)) {
    *terms = list_concat(*terms, list_copy(terms_of(as<FromExpr>(from)->quals)));
    for (const auto* node : each<const Node>(as<FromExpr>(from)->fromlist)) {
      add_terms_of_all_rows(node, terms);
    }
    return;
  }
  if (!IsA(from, JoinExpr)) return;
  const auto* join = as<JoinExpr>(from);
  const bool is_inner = join->jointype == JOIN_INNER;
  if (is_inner) *terms = list_concat(*terms, list_copy(terms_of(join->quals)));
  if (is_inner || join->jointype == JOIN_LEFT) add_terms_of_all_rows(join->larg, terms);
  if (is_inner || join->jointype == JOIN_RIGHT) add_terms_of_all_rows(join->rarg, terms);
}

// A constant as one of the key's type, such as a text of another name; null if there is none.
Const* constant_like(const Node* key, const Node* node) {
  Node* cast =
      coerce_to_target_type(nullptr, static_cast<Node*>(copyObjectImpl(node)), exprType(node),
                            exprType(key), -1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
  Node* computed = cast == nullptr ? nullptr : folded(cast);
  if (computed == nullptr || !IsA(computed, Const) || as<Const>(computed)->constisnull) {
    return nullptr;
  }
  auto* constant = as<Const>(computed);
  constant->consttypmod = exprTypmod(key);
  constant->constcollid = exprCollation(key);
  constant->location = -1;
  return as_stored(key, constant);
}

// A list of texts with which a varchar is compared is cast.
List* elements_of_list(const Node* list) {
  if (IsA(list, ArrayCoerceExpr)) list = folded(list);
  if (IsA(list, ArrayExpr)) return as<ArrayExpr>(list)->elements;
  if (!IsA(list, Const) || as<Const>(list)->constisnull) return NIL;
  return elements_of_array(as<Const>(list));
}

// Adds the values that a term says the key is one of. Returns false if it does not say that.
bool add_values_in_term(const Node* key, const Node* term, List** values) {
  check_stack_depth();
  if (IsA(term, BoolExpr) && as<BoolExpr>(term)->boolop == OR_EXPR) {
    for (const auto* choice : each<const Node>(as<BoolExpr>(term)->args)) {
      if (!add_values_in_term(key, choice, values)) return false;
    }
    return true;
  }
  const bool is_search = IsA(term, ScalarArrayOpExpr) && as<ScalarArrayOpExpr>(term)->useOr;
  if (!is_search && !IsA(term, OpExpr)) return false;
  const Oid operation = is_search ? as<ScalarArrayOpExpr>(term)->opno : as<OpExpr>(term)->opno;
  const List* sides = is_search ? as<ScalarArrayOpExpr>(term)->args : as<OpExpr>(term)->args;
  if (operation >= FirstUnpinnedObjectId || list_length(sides) != 2) return false;
  auto* left = static_cast<Node*>(linitial(sides));
  auto* right = static_cast<Node*>(lsecond(sides));
  if (!op_mergejoinable(operation, exprType(left))) return false;
  if (!is_search && equal(without_relabel(right), key)) std::swap(left, right);
  if (!equal(without_relabel(left), key)) return false;
  for (const auto* element : each<Node>(is_search ? elements_of_list(right) : list_make1(right))) {
    const Node* constant = folded(element);
    if (is_null(constant)) continue;
    Const* value = IsA(constant, Const) ? constant_like(key, constant) : nullptr;
    if (value == nullptr || list_length(*values) > kMaxElements) return false;
    *values = lappend(*values, value);
  }
  return *values != NIL;
}

}  // namespace

bool never_falls(const Node* key, const Node* column) {
  check_stack_depth();
  if (equal(key, column)) return true;
  const Node* part = growing_part(const_cast<Node*>(key));
  return part != nullptr && never_falls(part, column);
}

List* terms_of_all_rows(const Level* level) {
  List* terms = NIL;
  add_terms_of_all_rows(as<Node>(level->query->jointree), &terms);
  return terms;
}

// PostgreSQL's planner makes a kilobyte and more for each value that it folds.
List* values_in_term(const Level* level, Node* key, const Node* term) {
  MemoryContext folding =
      AllocSetContextCreate(CurrentMemoryContext, "dpquantile values", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext current = MemoryContextSwitchTo(folding);
  List* values = NIL;
  bool gives_null = false;
  List* found = add_values_in_term(key, term, &values)
                    ? evaluated_list(level, key, key, values, &gives_null)
                    : NIL;
  MemoryContextSwitchTo(current);
  found = static_cast<List*>(copyObjectImpl(found));
  MemoryContextDelete(folding);
  return found;
}

List* values_of_match(const Level* level, Node* key, const Node* condition) {
  List* values = NIL;
  for (const auto* term : each<const NullTest>(terms_of(condition))) {
    const auto* tested = as<Var>(term->arg);
    if (!IsA(term, NullTest) || term->nulltesttype != IS_NOT_NULL) continue;
    if (!IsA(tested, Var) || tested->varlevelsup > 0) continue;
    visit_nodes(level->query->jointree, [&](const Node* node) {
      if (!IsA(node, JoinExpr) || as<JoinExpr>(node)->jointype != JOIN_LEFT) return;
      const auto* join = as<JoinExpr>(node);
      const auto* list = as<RangeTblRef>(join->rarg);
      if (!IsA(list, RangeTblRef) || list->rtindex != static_cast<int>(tested->varno)) return;
      for (const auto* equality : each<const Node>(terms_of(join->quals))) {
        const List* keys = list_make1(key);
        const Node* of_list = term_of_list(level, keys, keys, equality);
        if (of_list != nullptr && values == NIL) values = values_in_term(level, key, of_list);
      }
    });
  }
  return values;
}

List* values_in_terms(const Level* level, Node* key) {
  for (const auto* term : each<const Node>(terms_of_all_rows(level))) {
    if (List* values = values_in_term(level, key, term)) return values;
  }
  return NIL;
}

List* key_conditions(const Level* level, const List* keys, const List* new_keys) {
  List* conditions = NIL;
  int copied = 0;
  const Node* condition = level->query->jointree->quals;
  for (auto* term : each<Node>(terms_of(static_cast<const Node*>(copyObjectImpl(condition))))) {
    // In another level, columns of queries around would be others.
    if (contain_volatile_functions(term) || has_outer_column(term)) continue;
    if (!is_of_rows(term, keys)) {
      conditions = lappend(
          conditions, mapped(term, [&](Node* node) { return counterpart(keys, new_keys, node); }));
      continue;
    }
    for (int i = 0; i < list_length(keys); ++i) {
      conditions =
          list_concat(conditions, implied_terms(level, static_cast<Node*>(list_nth(keys, i)),
                                                static_cast<const Node*>(list_nth(new_keys, i)),
                                                term, &copied));
    }
  }
  for (const auto* term : each<const Node>(terms_of_joins(level->query))) {
    Node* of_list = term_of_list(level, keys, new_keys, term);
    if (of_list != nullptr) conditions = lappend(conditions, of_list);
  }
  return conditions;
}

namespace {

struct Keys {
  List* keys;
  List* new_keys;
};

void add_key(Keys* keys, Node* key, void* new_key) {
  keys->keys = lappend(keys->keys, key);
  keys->new_keys = lappend(keys->new_keys, new_key);
}

}  // namespace

List* key_conditions_below(const Level* level, const List* keys, const List* new_keys) {
  CHECK_FOR_INTERRUPTS();
  check_stack_depth();
  if (any_node(level->query->jointree, is_outer_join)) return NIL;
  // One query after the other, each with all of its keys, as a term may compare them.
  const Level* below = nullptr;
  Keys of_query{};
  Keys of_others{};
  for (int i = 0; i < list_length(keys); ++i) {
    auto* key = static_cast<Node*>(list_nth(keys, i));
    const LevelExpression computed = in_query_below(level, key);
    if (computed.level == nullptr) continue;
    if (below == nullptr) below = computed.level;
    const bool is_of_query = computed.level == below;
    add_key(is_of_query ? &of_query : &of_others, is_of_query ? computed.expression : key,
            list_nth(new_keys, i));
  }
  if (below == nullptr) return NIL;
  List* conditions = key_conditions(below, of_query.keys, of_query.new_keys);
  conditions =
      list_concat(conditions, key_conditions_below(below, of_query.keys, of_query.new_keys));
  return list_concat(conditions, key_conditions_below(level, of_others.keys, of_others.new_keys));
}

}  // namespace dpquantile
