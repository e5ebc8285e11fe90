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

// The keys of the block, as they were and as they are rewritten.
struct Block {
  JudgedLevel* level;
  List* keys;
  List* rewritten;
};

// ---- Keys ----------------------------------------------------------------------------------

TargetEntry* entry_of_key(const Block& block, const SortGroupClause* key) {
  return get_sortgroupclause_tle(const_cast<SortGroupClause*>(key), block.level->query->targetList);
}

// A key that is a set would put a row into several groups.
void check_one_value(const JudgedLevel* level, Node* key) {
  if (!expression_returns_set(key)) return;
  refuse(level->statement->refused, exprLocation(key),
         "a set-returning function in GROUP BY would put a row into several groups",
         accepted_keys(level->statement->refused));
}

// The columns of an entry of FROM that are keys.
Bitmapset* key_columns(const Block& block, int entry) {
  Bitmapset* columns = nullptr;
  for (const auto* key : each<const SortGroupClause>(block.level->query->groupClause)) {
    const auto* expression = entry_of_key(block, key)->expr;
    if (!IsA(expression, Var)) continue;
    const auto* column = as<Var>(expression);
    if (column->varlevelsup > 0 || static_cast<int>(column->varno) != entry) continue;
    if (column->varattno > 0) columns = bms_add_member(columns, column->varattno);
  }
  return columns;
}

// Whether all rows of a group have the key from one row of a list.
bool is_key_of_list(const Block& block, const Node* key) {
  if (!IsA(key, Var) || !is_public(block.level, const_cast<Node*>(key))) return false;
  const auto* column = as<Var>(key);
  if (column->varlevelsup > 0) return false;
  const int number = static_cast<int>(column->varno);
  const JudgedEntry& entry = entry_of(block.level, number);
  return !entry.may_have_nulls && chooses_row_of_list(entry, key_columns(block, number));
}

// Whether the keys are those that rows of tables have, or of a list: who asks does not choose the
// hashes of the former (only those who may read protected rows write a joined table), and the
// latter are few.
bool is_stored_key(const JudgedLevel* level, const Node* key) {
  if (!IsA(key, Var)) return false;
  const auto* column = as<Var>(key);
  if (column->varlevelsup > 0) return false;
  const auto definition = definition_of(level, column);
  if (definition) return is_stored_key(definition->level, definition->expression);
  const JudgedEntry& entry = entry_of(level, static_cast<int>(column->varno));
  return entry.relation != nullptr || entry.is_joined_table || is_list(entry);
}

// ---- Hashes of keys ------------------------------------------------------------------------

// A hash table compares a new key with all before it that have the same hash, which can be had for
// as many rows as one likes: GROUP BY id * 4294967297. A sort is no better: PostgreSQL's stops at
// rows that are in order already, gives its short form of keys up by some rows, and takes quadratic
// time for some orders. One row decides each of these. So rows are grouped by the hash of such a
// key, too, under a secret of the plan, and no sort is below a release (oblivious_planning.hpp).
Node* hash_of_key(const JudgedLevel* level, Node* key) {
  const Oid types[] = {ANYOID, INT8OID, INT8OID};
  const Oid function = own_function("group_hash", buildoidvector(types, lengthof(types)));
  if (!OidIsValid(function)) {
    refuse(level->statement->refused, exprLocation(key), "a key in GROUP BY cannot be hashed",
           "Have the owner of the extension update it.");
  }
  uint64 halves[2];
  RandomStream* random = make_query_random(CurrentMemoryContext);
  report(guarded([&] {
    for (uint64& half : halves) half = random->bits64();
  }));
  SipKey secret;
  static_assert(sizeof(halves) == sizeof(secret));
  memcpy(secret.data(), halves, sizeof(halves));
  (void)make_value_hash(key, secret, CurrentMemoryContext);
  List* arguments = list_make1(key);
  for (const uint64 half : halves) {
    arguments = lappend(arguments, makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
                                             UInt64GetDatum(half), false, FLOAT8PASSBYVAL));
  }
  return as<Node>(makeFuncExpr(function, INT8OID, arguments, InvalidOid, exprCollation(key),
                               COERCE_EXPLICIT_CALL));
}

struct Reference {
  int of_key;
  int added;
};

// Adds a column to each grouping set that has another one.
void add_to_sets(List* sets, const Reference& reference) {
  for (auto* set : each<GroupingSet>(sets)) {
    if (set->kind != GROUPING_SET_SIMPLE) {
      add_to_sets(set->content, reference);
    } else if (list_member_int(set->content, reference.of_key)) {
      set->content = lappend_int(set->content, reference.added);
    }
  }
}

Index largest_reference(const Query* query) {
  Index largest = 0;
  for (const auto* entry : each<const TargetEntry>(query->targetList)) {
    largest = Max(largest, entry->ressortgroupref);
  }
  return largest;
}

void group_by_hash(const JudgedLevel* level, const SortGroupClause* key, Node* rewritten) {
  Query* query = level->query;
  Node* hash = hash_of_key(level, rewritten);
  level->statement->samples = with_samples(level->statement->samples, hash);
  TargetEntry* entry = makeTargetEntry(
      as<Expr>(hash), static_cast<AttrNumber>(list_length(query->targetList) + 1), nullptr, true);
  entry->ressortgroupref = largest_reference(query) + 1;
  query->targetList = lappend(query->targetList, entry);
  SortGroupClause* group = makeNode(SortGroupClause);
  group->tleSortGroupRef = entry->ressortgroupref;
  const TypeCacheEntry* type = lookup_type_cache(INT8OID, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
  group->eqop = type->eq_opr;
  group->sortop = type->lt_opr;
  group->hashable = true;
  query->groupClause = lappend(query->groupClause, group);
  add_to_sets(query->groupingSets,
              {static_cast<int>(key->tleSortGroupRef), static_cast<int>(entry->ressortgroupref)});
}

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

// When the target list and HAVING have been rewritten.
void group_by_hashes(const Block& block, const List* groups) {
  const Query* query = block.level->query;
  const bool all_keys =
      has_waiting_call(as<Node>(query->targetList)) || has_waiting_call(query->havingQual);
  for (int i = 0; i < list_length(groups); ++i) {
    const auto* as_asked = static_cast<const Node*>(list_nth(block.keys, i));
    if (!all_keys && is_stored_key(block.level, as_asked)) continue;
    auto* key = static_cast<Node*>(list_nth(block.rewritten, i));
    group_by_hash(block.level, static_cast<const SortGroupClause*>(list_nth(groups, i)),
                  static_cast<Node*>(copyObjectImpl(key)));
  }
}

Node* rewrite_key(const Block& block, const SortGroupClause* key, Node* expression) {
  JudgedLevel* level = block.level;
  check_one_value(level, expression);
  Node* rewritten = rewrite_inside(level, expression);
  if (level->is_refused) return rewritten;
  check_key_inside(level, key, rewritten);
  count_key(level, rewritten);
  List** samples = &level->statement->samples;
  *samples = with_sample_of_key(*samples, rewritten);
  if (!is_key_of_list(block, expression)) check_key_looks(level, rewritten);
  return is_public(level, expression) ? rewritten : with_bounded_reading(level, rewritten);
}

void rewrite_keys(Block* block) {
  for (const auto* key : each<const SortGroupClause>(block->level->query->groupClause)) {
    auto* expression = as<Node>(entry_of_key(*block, key)->expr);
    Node* rewritten = expression;
    attempt(block->level, [&] { rewritten = rewrite_key(*block, key, expression); });
    block->keys = lappend(block->keys, expression);
    block->rewritten = lappend(block->rewritten, rewritten);
  }
}

// Null if the expression is no key.
Node* rewritten_key(const Block& block, const Node* expression) {
  for (int i = 0; i < list_length(block.keys); ++i) {
    if (equal(expression, list_nth(block.keys, i))) {
      return static_cast<Node*>(copyObjectImpl(list_nth(block.rewritten, i)));
    }
  }
  return nullptr;
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

// PostgreSQL knows by unique keys that such a column has one value in a group.
void rely_on_keys(const JudgedLevel* level) {
  List** indexes = &level->statement->indexes;
  for (const Oid oid : each_oid(level->query->constraintDeps)) {
    *indexes = list_append_unique_oid(*indexes, get_constraint_index(oid));
  }
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
Node* rewrite_over_answers(const Block& block, Node* expression) {
  return mapped(expression, [&](Node* node) {
    if (Node* key = rewritten_key(block, node)) return key;
    Node* rewritten = nullptr;
    const bool passes =
        attempt(block.level, [&] { rewritten = rewrite_no_key(block.level, node); });
    return passes ? rewritten : node;
  });
}

void rewrite_target_list(Block* block) {
  for (auto* column : each<TargetEntry>(block->level->query->targetList)) {
    column->expr = as<Expr>(rewrite_over_answers(*block, as<Node>(column->expr)));
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
Node* rewrite_having(Block* block, Node* condition) {
  if (condition == nullptr) return nullptr;
  if (is_andclause(condition)) {
    auto* terms = as<BoolExpr>(condition);
    ListCell* cell;
    foreach (cell, terms->args)
      lfirst(cell) = rewrite_having(block, static_cast<Node*>(lfirst(cell)));
    return as<Node>(terms);
  }
  attempt(block->level, [&] { check_keep_group(block->level, condition); });
  if (!has_aggregate(condition)) return rewrite_inside(block->level, condition);
  Node* rewritten = rewrite_over_answers(*block, condition);
  return is_keep_group(rewritten) ? rewritten : as_one_condition(block->level, rewritten);
}

// ---- Which groups there are ----------------------------------------------------------------

bool asks_keep_group(const Node* having) {
  for (const auto* term : each<const Node>(terms_of(having))) {
    if (is_keep_group(term)) return true;
  }
  return false;
}

bool has_public_keys(const Block& block) {
  return is_public(block.level, as<Node>(block.keys));
}

const Node* first_key(const Block& block) {
  return static_cast<const Node*>(linitial(block.keys));
}

void check_groups(const Block& block) {
  const JudgedLevel* level = block.level;
  if (block.keys == NIL) return;
  if (level->has_public_side && !has_public_keys(block)) {
    refuse(level->statement->refused, exprLocation(first_key(block)),
           "a key in GROUP BY is not a column of the public side of the outer join",
           "Group by columns of the public side alone, or write JOIN in place of the outer join.");
  }
  if (level->keeps_public_rows || asks_keep_group(level->query->havingQual)) return;
  if (level->has_public_side) {
    refuse(level->statement->refused, exprLocation(first_key(block)),
           "a condition in WHERE or of an inner join drops groups without protected rows, and so "
           "reveals them",
           "Write the condition into ON, or into FILTER (WHERE ...) of the aggregates.");
  }
  refuse(
      level->statement->refused, exprLocation(first_key(block)),
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
  Block block = {level, NIL, NIL};
  rewrite_keys(&block);
  attempt(level, [&] { check_groups(block); });
  rely_on_keys(level);
  const List* groups = list_copy(query->groupClause);
  rewrite_target_list(&block);
  query->havingQual = rewrite_having(&block, query->havingQual);
  attempt(level, [&] { check_outside(level, as<Node>(query->sortClause), nullptr); });
  attempt(level, [&] { check_limit(level, query->limitCount); });
  attempt(level, [&] { check_limit(level, query->limitOffset); });
  if (level->is_refused) return;
  group_by_hashes(block, groups);
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
