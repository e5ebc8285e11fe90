#include "pg/protect/person_windows.hpp"

#include "pg/borrowed/early_lookups.hpp"
#include "pg/borrowed/ordered_persons.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/protect/inside.hpp"
#include "pg/protect/outside.hpp"
#include "pg/protect/rewritten_keys.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/protect/size_bounds.hpp"
#include "pg/protect/unit_join.hpp"
#include "pg/protect/user_of_row.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/person_aggregates.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
}

namespace dpquantile {

namespace {

constexpr char kWindowHint[] =
    "Partition each window by the column that identifies the persons: row_number() OVER (PARTITION "
    "BY person ORDER BY day).";
constexpr char kFrameHint[] =
    "Begin the frame with UNBOUNDED PRECEDING, or with ROWS or GROUPS of a constant number before; "
    "a frame to the end is one from the begin in the other order.";

[[noreturn]] void refuse_at(const JudgedLevel* level, int location, const char* reason,
                            const char* hint) {
  refuse(level->statement->refused, location, reason, hint);
}

// ---- Frames --------------------------------------------------------------------------------

constexpr int64 kMostOffset = 100;

bool has_option(const WindowClause* window, int options) {
  return (window->frameOptions & options) != 0;
}

// An offset of a frame, whose error would tell that there is a row. It may be as large as it likes
// if no aggregate is computed of the frame once more for each row.
int64 offset_of(JudgedLevel* level, Node** offset) {
  if (*offset == nullptr) return 0;
  *offset = early_expression(level, *offset);
  const bool is_number = is_literal(level->statement, *offset) && exprType(*offset) == INT8OID &&
                         !as<Const>(*offset)->constisnull;
  if (is_number) {
    const int64 value = DatumGetInt64(as<Const>(*offset)->constvalue);
    if (value >= 0) return value;
  }
  refuse_at(level, exprLocation(*offset),
            "an offset of a frame over protected rows is no constant, or negative", kFrameHint);
}

void check_frame(JudgedLevel* level, WindowClause* window) {
  constexpr int kOffsets = FRAMEOPTION_START_OFFSET | FRAMEOPTION_END_OFFSET;
  if (has_option(window, FRAMEOPTION_RANGE) && has_option(window, kOffsets)) {
    refuse_at(level, kNowhere,
              "RANGE frames with offsets are not supported over protected rows: they may fail for "
              "some rows",
              "Use ROWS or GROUPS.");
  }
  (void)offset_of(level, &window->startOffset);
  (void)offset_of(level, &window->endOffset);
}

// How many rows, or groups of rows with equal keys, of a frame an aggregate is computed of once
// more for each. 0: of none, as it grows with the rows.
int64 repeated_rows(JudgedLevel* level, const WindowFunc* call, WindowClause* window) {
  const bool has_exclusion = has_option(window, FRAMEOPTION_EXCLUSION);
  if (has_option(window, FRAMEOPTION_START_UNBOUNDED_PRECEDING) && !has_exclusion) return 0;
  const int64 start = offset_of(level, &window->startOffset);
  const int64 end = offset_of(level, &window->endOffset);
  const bool is_short = !has_exclusion &&
                        !has_option(window, FRAMEOPTION_END_UNBOUNDED_FOLLOWING) &&
                        start <= kMostOffset && end <= kMostOffset;
  if (is_short) return start + end + 1;
  refuse_at(level, call->location,
            psprintf("the frame of %s has too many rows to compute it for each row",
                     format_procedure(call->winfnoid)),
            kFrameHint);
}

// ---- Windows -------------------------------------------------------------------------------

WindowClause* window_of(const JudgedLevel* level, const WindowFunc* call) {
  for (auto* window : each<WindowClause>(level->query->windowClause)) {
    if (window->winref == call->winref) return window;
  }
  refuse_at(level, call->location, "a window function has no window", kWindowHint);
}

Node* expression_of(const JudgedLevel* level, const SortGroupClause* key) {
  return get_sortgroupclause_expr(const_cast<SortGroupClause*>(key), level->query->targetList);
}

// The key that is the person of the rows, or null. Persons are told apart by = as they are
// everywhere else.
Node* person_of_window(const JudgedLevel* level, const WindowClause* window) {
  for (const auto* key : each<const SortGroupClause>(window->partitionClause)) {
    Node* expression = expression_of(level, key);
    if (is_user_of_row(level, expression) && groups_ids(key->eqop, expression)) return expression;
  }
  return nullptr;
}

void check_window(JudgedLevel* level, WindowClause* window) {
  if (person_of_window(level, window) == nullptr) {
    refuse_at(level, kNowhere, "a window over protected rows has rows of several persons",
              kWindowHint);
  }
  check_frame(level, window);
}

// Windows without a function are not computed.
void leave_out_unused_windows(Query* query) {
  ListCell* cell;
  foreach (cell, query->windowClause) {
    if (is_used_window(query, static_cast<WindowClause*>(lfirst(cell)))) continue;
    query->windowClause = foreach_delete_current(query->windowClause, cell);
  }
}

void check_shape(const JudgedLevel* level) {
  if (!has_plain_windows(level->query)) {
    refuse_at(level, kNowhere,
              "a query with window functions has a subquery or a clause beside its columns",
              "Write it in the query around.");
  }
  if (level->has_public_side) {
    refuse_at(level, kNowhere,
              "an outer join keeps public rows of nobody in a query with window functions",
              "Write the window functions in a derived table of the join.");
  }
  if (level->user_relation->user_column == 0) {
    refuse_at(level, kNowhere, "the table protects single rows, and not persons", kWindowHint);
  }
}

// ---- Calls ---------------------------------------------------------------------------------

// Which argument of a window function must be constant, from 1: with values of rows it could fail,
// or read far rows for each; 0: none.
constexpr int kNotSupported = -1;
int constant_argument(Oid function) {
  switch (function) {
    case F_ROW_NUMBER:
    case F_RANK_:
    case F_DENSE_RANK_:
    case F_PERCENT_RANK_:
    case F_CUME_DIST_:
    case F_LAG_ANYELEMENT:
    case F_LEAD_ANYELEMENT:
    case F_FIRST_VALUE:
    case F_LAST_VALUE:
      return 0;
    case F_NTILE:
      return 1;
    case F_LAG_ANYELEMENT_INT4:
    case F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
    case F_LEAD_ANYELEMENT_INT4:
    case F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
    case F_NTH_VALUE:
      return 2;
    default:
      return kNotSupported;
  }
}

// Whether an aggregate gives the least or the greatest value. If equal values look different, such
// as 1.0 and 1.00, the order of the rows decides which of them it gives, and that is fixed here.
bool is_extreme(Oid aggregate) {
  switch (aggregate) {
    case F_MIN_NUMERIC:
    case F_MIN_FLOAT4:
    case F_MIN_FLOAT8:
    case F_MIN_INTERVAL:
    case F_MIN_TIME:
    case F_MAX_NUMERIC:
    case F_MAX_FLOAT4:
    case F_MAX_FLOAT8:
    case F_MAX_INTERVAL:
    case F_MAX_TIME:
      return true;
    default:
      return false;
  }
}

// Sums of numbers with few digits do not overflow (Lemma 34p).
bool needs_short_numbers(const WindowFunc* call) {
  const PersonAggregate* found = call->winagg ? find_person_aggregate(call->winfnoid) : nullptr;
  return found != nullptr && found->call == PersonCall::kOfNumeric;
}

// Those that are called as they are over a person's rows in any order, too.
bool is_known_aggregate(const WindowFunc* call) {
  const PersonAggregate* found = find_person_aggregate(call->winfnoid);
  const bool is_exact =
      found != nullptr && (found->call == PersonCall::kAsItIs || found->call == PersonCall::kCount);
  return is_exact || needs_short_numbers(call) || is_extreme(call->winfnoid);
}

[[noreturn]] void refuse_call(const JudgedLevel* level, const WindowFunc* call) {
  refuse_at(level, call->location,
            psprintf("window function %s is not supported over protected rows: it may fail for "
                     "some rows",
                     format_procedure(call->winfnoid)),
            "Use row_number, rank, dense_rank, percent_rank, cume_dist, ntile, lag, lead, "
            "first_value, last_value, nth_value, count, sum, avg, min, max, bool_and and bool_or.");
}

// PostgreSQL looks whether a function may ignore NULLs when it comes to the first row.
void check_call(const JudgedLevel* level, const WindowFunc* call) {
  if (DPQ_TREATS_NULLS(call)) {
    refuse_at(level, call->location,
              "IGNORE NULLS and RESPECT NULLS are not supported over protected rows",
              "Leave them out, and filter rows by value IS NOT NULL.");
  }
  const bool is_known =
      call->winagg ? is_known_aggregate(call) : constant_argument(call->winfnoid) != kNotSupported;
  if (!is_known) refuse_call(level, call);
}

// lag() and lead() may look the other way; the others fail for less than 1.
void check_constant_argument(const JudgedLevel* level, const WindowFunc* call) {
  const int number = call->winagg ? 0 : constant_argument(call->winfnoid);
  if (number == 0) return;
  const auto* argument = static_cast<const Node*>(list_nth(call->args, number - 1));
  const bool is_positive = call->winfnoid == F_NTILE || call->winfnoid == F_NTH_VALUE;
  const bool is_number = is_literal(level->statement, argument) && exprType(argument) == INT4OID &&
                         !as<Const>(argument)->constisnull;
  if (is_number && (!is_positive || DatumGetInt32(as<Const>(argument)->constvalue) > 0)) return;
  refuse_at(level, exprLocation(argument),
            psprintf("argument %d of %s must be a constant%s", number,
                     format_procedure(call->winfnoid), is_positive ? " above 0" : ""),
            "Write it as a number.");
}

void count_repeated_rows(JudgedLevel* level, const WindowFunc* call) {
  if (!call->winagg) return;
  const int64 rows = repeated_rows(level, call, window_of(level, call));
  if (rows == 0) return;
  auto* argument = call->args == NIL ? nullptr : static_cast<Node*>(linitial(call->args));
  if (argument != nullptr) count_again(level, argument, static_cast<double>(rows));
  if (call->aggfilter != nullptr) {
    count_again(level, as<Node>(call->aggfilter), static_cast<double>(rows));
  }
}

// How long what it gives can be.
SizeBound bound_of_function(const JudgedLevel* level, const WindowFunc* call) {
  constexpr double kMostNumericBytes = 1024;
  if (call->wintype == NUMERICOID || call->args == NIL) return at_most(kMostNumericBytes);
  SizeBound longest = at_most(0);
  for (auto* argument : each<Node>(call->args))
    longest = longer(longest, bound_of(level, argument));
  return longest;
}

}  // namespace

void check_windows(JudgedLevel* level) {
  level->has_person_groups = true;
  leave_out_unused_windows(level->query);
  if (!attempt(level, [&] { check_shape(level); })) return;
  for (auto* window : each<WindowClause>(level->query->windowClause)) {
    attempt(level, [&] { check_window(level, window); });
  }
  attempt(level, [&] { leave_out_nobody(level); });
}

Node* rewrite_window_function(JudgedLevel* level, WindowFunc* call) {
  count_node(level->statement, as<Node>(call));
  check_call(level, call);
  ListCell* cell;
  foreach (cell, call->args) {
    Node* value = rewrite_inside(level, static_cast<Node*>(lfirst(cell)));
    if (level->is_refused) return as<Node>(call);
    const bool is_constant = IsA(value, Const) || IsA(value, Param);
    lfirst(cell) =
        is_constant ? value : with_bounded_reading(level, with_counted_copy(level, value));
  }
  if (needs_short_numbers(call)) {
    Expr* number = short_number(static_cast<Expr*>(linitial(call->args)));
    if (number == nullptr) refuse_call(level, call);
    linitial(call->args) = number;
  }
  check_constant_argument(level, call);
  call->aggfilter = as<Expr>(rewrite_inside(level, as<Node>(call->aggfilter)));
  if (level->is_refused) return as<Node>(call);
  count_repeated_rows(level, call);
  set_bound(level->statement, as<Node>(call), bound_of_function(level, call));
  return with_bounded_work(level, as<Node>(call));
}

namespace {

void check_keys(JudgedLevel* level, const List* keys) {
  for (const auto* key : each<const SortGroupClause>(keys)) {
    Node* expression = expression_of(level, key);
    check_key_inside(level, key, expression);
    count_key(level, expression);
    List** samples = &level->statement->samples;
    *samples = with_sample_of_key(*samples, expression);
  }
}

bool has_long_columns(const JudgedLevel* level) {
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    if (get_typlen(exprType(as<Node>(column->expr))) == -1) return true;
  }
  return false;
}

// Rows are in an order in which those of a person are together by a secret hash.
void partition_by_hash(JudgedLevel* level) {
  const SortGroupClause* hash = nullptr;
  for (auto* window : each<WindowClause>(level->query->windowClause)) {
    Node* person = person_of_window(level, window);
    if (hash == nullptr) {
      hash = add_person_hash(level, person);
    }
    window->partitionClause = lcons(copyObjectImpl(hash), list_copy(window->partitionClause));
  }
}

}  // namespace

void check_window_keys(JudgedLevel* level) {
  for (const auto* window : each<const WindowClause>(level->query->windowClause)) {
    check_keys(level, window->partitionClause);
    check_keys(level, window->orderClause);
  }
  const auto windows = list_length(level->query->windowClause);
  count_copies(level, windows, list_length(level->query->targetList));
  partition_by_hash(level);
  if (has_long_columns(level)) count_fetched(level, kMostFetchedOfRow);
}

}  // namespace dpquantile
