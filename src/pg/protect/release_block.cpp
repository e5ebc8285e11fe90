#include "pg/protect/release_block.hpp"

#include "pg/aggregate/user_hash.hpp"
#include "pg/borrowed/early_lookups.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/protect/accepted_shape.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/protect/inside.hpp"
#include "pg/protect/join_fanout.hpp"
#include "pg/protect/outside.hpp"
#include "pg/protect/private_aggregate.hpp"
#include "pg/protect/public_list.hpp"
#include "pg/protect/rewritten_keys.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/protect/source.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/query_random.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// Whether the release node reads all groups before it answers one. Then it sorts them.
bool has_waiting_call(const Node* expression) {
  return search(expression, [](const Node* node) {
    const FamilyRow* family = private_family(node);
    if (family == nullptr) return Look::kBelow;
    const bool waits =
        family->bounds_groups_of_users() || family->charged == ChargeRule::kOncePerGroup;
    return waits ? Look::kFound : Look::kPast;
  });
}

// ---- Expressions over answers and keys -----------------------------------------------------

// A column that is no key: PostgreSQL takes it from any row of the group. In a public table all
// rows of the group have the same.
void check_dependent_column(const JudgedLevel* level, const Var* column) {
  const auto* node = as<Node>(column);
  if (column->varlevelsup > 0 || is_public(level, const_cast<Node*>(node))) return;
  refuse(level->statement->refused, column->location,
         "a column outside of the aggregates is not in GROUP BY", "Add it to GROUP BY.");
}

[[noreturn]] void refuse_subquery(const JudgedLevel* level, const Node* node) {
  refuse(level->statement->refused, exprLocation(node),
         "a subquery beside private aggregates is not supported",
         "Write the private aggregates in a subquery, too: SELECT (SELECT count(*) FROM visits) / "
         "(SELECT count(*) FROM patients).");
}

// Null if the node stays, with its parts rewritten.
Node* rewrite_no_key(JudgedLevel* level, Node* node) {
  if (IsA(node, Aggref)) return rewrite_aggregate(level, as<Aggref>(node));
  if (IsA(node, SubLink)) refuse_subquery(level, node);
  if (IsA(node, Var)) check_dependent_column(level, as<Var>(node));
  check_node_outside(level, node);
  return nullptr;
}

// The parts of what is refused are not looked at.
Node* rewrite_over_answers(const GroupKeys& keys, Node* expression) {
  return mapped(expression, [&](Node* node) {
    if (Node* key = rewritten_key(keys, node)) return key;
    Node* rewritten = nullptr;
    const bool passes = attempt(keys.level, [&] { rewritten = rewrite_no_key(keys.level, node); });
    return passes ? rewritten : node;
  });
}

void rewrite_target_list(GroupKeys* keys) {
  for (auto* column : each<TargetEntry>(keys->level->query->targetList)) {
    column->expr = as<Expr>(rewrite_over_answers(*keys, as<Node>(column->expr)));
  }
}

// The rest of the condition would be computed of groups that are not to be shown.
void check_keep_group(const JudgedLevel* level, Node* condition) {
  if (is_keep_group(condition) || !has_keep_group(condition)) return;
  refuse(level->statement->refused, exprLocation(condition),
         "dp_keep_group must be a condition of its own in HAVING",
         "Write HAVING dp_keep_group(...) AND the other conditions.");
}

// Whether an expression has an aggregate when the planner has computed what is constant.
bool keeps_aggregate(const JudgedLevel* level, const Node* expression) {
  return expression != nullptr && has_aggregate(as_planned(level->statement, expression));
}

// What a condition says of groups, the planner must not take apart: it moves to WHERE what is left
// without an aggregate when constants are computed, also those of derived tables, what all arms of
// an OR share and what NOT makes of one. Rows would be computed with what is allowed for answers
// only. It leaves alone what it takes for volatile.
Node* as_one_condition(const JudgedLevel* level, Node* condition) {
  const Oid types[] = {BOOLOID};
  const Oid function = own_function("of_answers", buildoidvector(types, lengthof(types)));
  if (!OidIsValid(function)) {
    refuse(level->statement->refused, exprLocation(condition), "a condition in HAVING is not safe",
           "Have the owner of the extension update it.");
  }
  return as<Node>(makeFuncExpr(function, BOOLOID, list_make1(condition), InvalidOid, InvalidOid,
                               COERCE_EXPLICIT_CALL));
}

// The planner moves a term without aggregates to WHERE, where it sees every row.
Node* rewrite_having(GroupKeys* keys, Node* condition) {
  if (condition == nullptr) return nullptr;
  if (is_andclause(condition)) {
    auto* terms = as<BoolExpr>(condition);
    ListCell* cell;
    foreach (cell, terms->args)
      lfirst(cell) = rewrite_having(keys, static_cast<Node*>(lfirst(cell)));
    return as<Node>(terms);
  }
  attempt(keys->level, [&] { check_keep_group(keys->level, condition); });
  if (!has_aggregate(condition)) return rewrite_inside(keys->level, condition);
  Node* rewritten = rewrite_over_answers(*keys, condition);
  return is_keep_group(rewritten) ? rewritten : as_one_condition(keys->level, rewritten);
}

// ---- Which groups there are ----------------------------------------------------------------

bool asks_keep_group(const Node* having) {
  for (const auto* term : each<const Node>(terms_of(having))) {
    if (is_keep_group(term)) return true;
  }
  return false;
}

bool has_public_keys(const GroupKeys& keys) {
  return is_public(keys.level, as<Node>(keys.asked));
}

const Node* first_key(const GroupKeys& keys) {
  return static_cast<const Node*>(linitial(keys.asked));
}

void check_groups(const GroupKeys& keys) {
  const JudgedLevel* level = keys.level;
  if (keys.asked == NIL) return;
  if (level->has_public_side && !has_public_keys(keys)) {
    refuse(level->statement->refused, exprLocation(first_key(keys)),
           "a key in GROUP BY is not a column of the public side of the outer join",
           "Group by columns of the public side alone, or write JOIN in place of the outer join.");
  }
  if (level->keeps_public_rows || asks_keep_group(level->query->havingQual)) return;
  if (level->has_public_side) {
    refuse(level->statement->refused, exprLocation(first_key(keys)),
           "a condition in WHERE or of an inner join drops groups without protected rows, and so "
           "reveals them",
           "Write the condition into ON, or into FILTER (WHERE ...) of the aggregates.");
  }
  refuse(
      level->statement->refused, exprLocation(first_key(keys)),
      "the keys in GROUP BY come from protected rows, so that the list of groups would reveal them",
      accepted_keys(level->statement->refused));
}

// ---- The block -----------------------------------------------------------------------------

void check_limit(JudgedLevel* level, Node* limit) {
  if (reads_columns(limit)) {
    refuse(level->statement->refused, exprLocation(limit),
           "LIMIT depends on a column or a subquery",
           "Write it as a literal or a query parameter.");
  }
  check_outside(level, limit, nullptr);
}

void check_has_aggregate(const JudgedLevel* level) {
  const Query* query = level->query;
  if (has_aggregate(as<Node>(query->targetList)) || has_aggregate(query->havingQual)) {
    return;
  }
  refuse_without_select(level->statement->refused, kNowhere, "the query has no private aggregate",
                        "Show a private aggregate besides, such as dp_count(0.1) or, in plain SQL, "
                        "count(*). A key, min(), max() and dp_error_of() are none.");
}

// The planner leaves out columns that the query around the block does not use, and aggregates of
// which nothing depends, as in coalesce(1, dp_count(1)). Without any aggregate the block would read
// rows without a charge.
void keep_one_aggregate(JudgedLevel* level) {
  Query* query = level->query;
  if (keeps_aggregate(level, query->havingQual)) return;
  Index largest = 0;
  TargetEntry* kept = nullptr;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    largest = Max(largest, column->ressortgroupref);
    if (kept == nullptr && keeps_aggregate(level, as<Node>(column->expr))) kept = column;
  }
  if (kept == nullptr) {
    refuse(level->statement->refused, kNowhere,
           "the query has no private aggregate when its constants are computed",
           "Show an answer that depends on the rows.");
  }
  if (kept->ressortgroupref == 0) kept->ressortgroupref = largest + 1;
}

}  // namespace

void check_release_block(JudgedLevel* level) {
  Query* query = level->query;
  check_clauses(level);
  attempt(level, [&] { check_has_aggregate(level); });
  require_private_aggregates(level, as<Node>(query->targetList));
  require_private_aggregates(level, query->havingQual);
  if (!check_rows(level)) return;
  GroupKeys keys = {level, NIL, NIL, false};
  rewrite_keys(&keys);
  attempt(level, [&] { check_groups(keys); });
  rely_on_keys(level);
  const List* groups = list_copy(query->groupClause);
  rewrite_target_list(&keys);
  query->havingQual = rewrite_having(&keys, query->havingQual);
  attempt(level, [&] { check_outside(level, as<Node>(query->sortClause), nullptr); });
  attempt(level, [&] { check_limit(level, query->limitCount); });
  attempt(level, [&] { check_limit(level, query->limitOffset); });
  if (level->is_refused) return;
  group_by_hashes(
      keys, groups,
      has_waiting_call(as<Node>(query->targetList)) || has_waiting_call(query->havingQual));
  count_comparisons(level);
  attempt(level, [&] { keep_one_aggregate(level); });
}

}  // namespace dpquantile

using namespace dpquantile;

// (condition boolean) returns boolean
DPQ_FUNCTION(dpq_of_answers) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  PG_RETURN_BOOL(PG_GETARG_BOOL(0));
}
