#include "pg/protect/source.hpp"

#include "pg/protect/accepted_shape.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/protect/exact_aggregate.hpp"
#include "pg/protect/inside.hpp"
#include "pg/protect/join_rule.hpp"
#include "pg/protect/outside.hpp"
#include "pg/protect/person_windows.hpp"
#include "pg/protect/rewritten_keys.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
}

namespace dpquantile {

namespace {

constexpr char kAroundHint[] = "Write it in a query around the private aggregates.";
constexpr char kWindowHint[] =
    "For a median ask percentile_cont(0.5) WITHIN GROUP (ORDER BY value). Write other windows in a "
    "query around the private aggregates, or partition each by the column that identifies the "
    "persons: OVER (PARTITION BY person ORDER BY day).";
constexpr char kSourceHint[] =
    "Choose rows with WHERE and compute columns there; aggregate them in the query around it.";

void refuse_clause(JudgedLevel* level, bool is_present, const char* reason, const char* hint) {
  if (!is_present) return;
  attempt(level, [&] { refuse(level->statement->refused, kNowhere, reason, hint); });
}

// ---- Conditions ----------------------------------------------------------------------------

void rewrite_conditions(JudgedLevel* level, Node* from) {
  if (IsA(from, FromExpr)) {
    auto* list = as<FromExpr>(from);
    for (auto* node : each<Node>(list->fromlist)) rewrite_conditions(level, node);
    list->quals = rewrite_inside(level, list->quals);
  } else if (IsA(from, JoinExpr)) {
    auto* join = as<JoinExpr>(from);
    rewrite_conditions(level, join->larg);
    rewrite_conditions(level, join->rarg);
    join->quals = rewrite_inside(level, join->quals);
  }
}

bool is_never_true(const Node* condition) {
  for (const auto* term : each<const Const>(terms_of(condition))) {
    if (!IsA(term, Const)) continue;
    if (term->constisnull || !DatumGetBool(term->constvalue)) return true;
  }
  return false;
}

// ---- Empty sources -------------------------------------------------------------------------

bool has_limit_zero(JudgedLevel* level) {
  Query* query = level->query;
  if (query->limitCount == nullptr) return false;
  query->limitCount = early_expression(level, query->limitCount);
  if (!IsA(query->limitCount, Const)) return false;
  const auto* limit = as<Const>(query->limitCount);
  return !limit->constisnull && DatumGetInt64(limit->constvalue) == 0;
}

// Whether a part of FROM has no row: an outer join keeps those without a partner.
bool is_empty_part(const JudgedLevel* level, const Node* part) {
  if (IsA(part, RangeTblRef)) {
    const JudgedLevel* source = entry_of(level, as<RangeTblRef>(part)->rtindex).source;
    return source != nullptr && source->is_empty;
  }
  if (!IsA(part, JoinExpr)) return false;
  const auto* join = as<JoinExpr>(part);
  const bool is_left = is_empty_part(level, join->larg);
  const bool is_right = is_empty_part(level, join->rarg);
  if (join->jointype == JOIN_INNER) return is_left || is_right;
  if (join->jointype == JOIN_LEFT) return is_left;
  return join->jointype == JOIN_RIGHT && is_right;
}

bool has_empty_part(const JudgedLevel* level) {
  if (level->has_public_side) return false;
  for (const auto* part : each<const Node>(level->query->jointree->fromlist)) {
    if (is_empty_part(level, part)) return true;
  }
  return false;
}

// Makes sure that nothing is read, and nothing computed but columns of no row.
void read_nothing(JudgedLevel* level) {
  level->is_empty = true;
  level->query->jointree->quals = makeBoolConst(false, false);
  level->query->limitOffset = nullptr;
}

// ---- Columns -------------------------------------------------------------------------------

// A column as it is may be of any type: nothing is computed from it.
bool is_plain_column(const Node* expression) {
  return IsA(expression, Var) && as<Var>(expression)->varlevelsup == 0;
}

Node* rewrite_window_column(JudgedLevel* level, Node* expression) {
  Node* rewritten = expression;
  attempt(level, [&] { rewritten = rewrite_window_function(level, as<WindowFunc>(expression)); });
  return rewritten;
}

Node* rewrite_column(JudgedLevel* level, Node* expression) {
  if (IsA(expression, WindowFunc)) return rewrite_window_column(level, expression);
  if (!is_plain_column(expression))
    return with_counted_copy(level, rewrite_inside(level, expression));
  if (!attempt(level, [&] { check_column(level, as<Var>(expression)); })) return expression;
  count_node(level->statement, expression, weight_of(level, expression));
  return with_bounded_work(level, expression);
}

// ---- ORDER BY and LIMIT --------------------------------------------------------------------

// PostgreSQL evaluates LIMIT and OFFSET before it looks for a row.
void check_order(JudgedLevel* level) {
  Query* query = level->query;
  if (query->limitOffset != nullptr) {
    query->limitOffset = early_expression(level, query->limitOffset);
  }
  if (has_limit_zero(level) || is_never_true(query->jointree->quals) || has_empty_part(level)) {
    read_nothing(level);
    return;
  }
  if (level->parent == nullptr) return;  // It will be refused, because it shows rows.
  refuse_clause(level, query->limitCount != nullptr || query->limitOffset != nullptr,
                "LIMIT and OFFSET below a private aggregate are not supported: they choose rows by "
                "other rows",
                kSourceHint);
  refuse_clause(level, query->sortClause != NIL,
                "ORDER BY below a private aggregate is not supported: it has no effect",
                kSourceHint);
}

}  // namespace

void check_clauses(JudgedLevel* level) {
  const Query* query = level->query;
  refuse_clause(level, query->rowMarks != NIL, "queries over protected tables cannot lock rows",
                "Leave out FOR UPDATE.");
  const bool has_windows = query->hasWindowFuncs || query->windowClause != NIL;
  refuse_clause(level, has_windows && !level->read->windows_persons,
                "window functions are not supported over protected rows",
                combines_rows(query) || level->parent == nullptr ? kAroundHint : kWindowHint);
  refuse_clause(level, query->distinctClause != NIL,
                "DISTINCT is not supported over protected rows: it reveals which values there are",
                accepted_distinct(level->statement->refused));
  refuse_clause(level, query->groupingSets != NIL,
                "grouping sets of private aggregates are not supported here: they put a row into "
                "several groups",
                "Write a query for each grouping, and combine them with UNION ALL.");
}

bool check_rows(JudgedLevel* level) {
  if (!attempt(level, [&] { check_joins(level); })) return false;
  rewrite_conditions(level, as<Node>(level->query->jointree));
  return true;
}

void rewrite_public(JudgedLevel* level) {
  rewrite_conditions(level, as<Node>(level->query->jointree));
  for_each_column(level, [&](Node* column) {
    return IsA(column, Aggref) ? rewrite_exact_aggregate(level, as<Aggref>(column))
                               : rewrite_column(level, column);
  });
  for (const auto* key : each<const SortGroupClause>(level->query->groupClause)) {
    auto* expression =
        get_sortgroupclause_expr(const_cast<SortGroupClause*>(key), level->query->targetList);
    if (!IsA(expression, Const)) check_key_inside(level, key, expression);
  }
  rely_on_keys(level);
}

void check_source(JudgedLevel* level) {
  check_clauses(level);
  refuse_clause(level, level->query->hasTargetSRFs,
                "set-returning functions in SELECT are not supported over protected rows",
                kAroundHint);
  if (!check_rows(level)) return;
  const bool has_windows = level->read->windows_persons;
  if (has_windows) check_windows(level);
  for_each_column(level, [&](Node* column) { return rewrite_column(level, column); });
  if (has_windows && !level->is_refused) attempt(level, [&] { check_window_keys(level); });
  attempt(level, [&] { check_order(level); });
}

}  // namespace dpquantile
