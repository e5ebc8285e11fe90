#include "pg/borrowed/oblivious_joins.hpp"

#include "pg/release/below_release.hpp"
#include "pg/server/plan_children.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/planmain.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// `next_node`: the number of the next new node
Plan* numbered(Plan* plan, int* next_node) {
  plan->plan_node_id = (*next_node)++;
  return plan;
}

Expr* one() {
  return as<Expr>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(1), false, true));
}

Var* column_of(const Plan* plan, int number, int side) {
  const auto* entry = list_nth_node(TargetEntry, plan->targetlist, number - 1);
  const Node* value = as<Node>(entry->expr);
  return makeVar(side, static_cast<AttrNumber>(number), exprType(value), exprTypmod(value),
                 exprCollation(value), 0);
}

void add_column(Plan* plan, Expr* value) {
  const auto number = static_cast<AttrNumber>(list_length(plan->targetlist) + 1);
  plan->targetlist = lappend(plan->targetlist, makeTargetEntry(value, number, nullptr, false));
}

// A node with the columns of its only child. It takes what the planner says of the child.
void put_above(Plan* plan, Plan* child) {
  const NodeTag tag = nodeTag(plan);
  *plan = *child;
  plan->type = tag;
  plan->targetlist = NIL;
  plan->qual = NIL;
  plan->initPlan = NIL;
  plan->parallel_aware = false;
  plan->lefttree = child;
  plan->righttree = nullptr;
  for (int i = 1; i <= list_length(child->targetlist); ++i) {
    add_column(plan, as<Expr>(column_of(child, i, OUTER_VAR)));
  }
}

// Adds a column that is never NULL to the rows of a side, below the node that hashes it. Returns
// its number.
int add_mark(Plan** side, int* next_node) {
  if (IsA(*side, Hash)) {
    const int number = add_mark(&(*side)->lefttree, next_node);
    add_column(*side, as<Expr>(column_of((*side)->lefttree, number, OUTER_VAR)));
    return list_length((*side)->targetlist);
  }
  if (!is_projection_capable_plan(*side)) {
    Result* result = makeNode(Result);
    put_above(&result->plan, *side);
    *side = numbered(&result->plan, next_node);
  }
  add_column(*side, one());
  return list_length((*side)->targetlist);
}

// A condition on a row that comes out of the join: whether it has a row of the side.
void require(HashJoin* join, NullTestType test, Expr* of_side) {
  NullTest* condition = makeNode(NullTest);
  condition->arg = static_cast<Expr*>(copyObjectImpl(of_side));
  condition->nulltesttype = test;
  condition->location = -1;
  join->join.plan.qual = lcons(condition, join->join.plan.qual);
}

Expr* mark_of_outer(HashJoin* join, int* next_node) {
  Plan** side = &join->join.plan.lefttree;
  const int number = add_mark(side, next_node);
  return as<Expr>(column_of(*side, number, OUTER_VAR));
}

Expr* mark_of_inner(HashJoin* join, int* next_node) {
  Plan** side = &join->join.plan.righttree;
  const int number = add_mark(side, next_node);
  return as<Expr>(column_of(*side, number, INNER_VAR));
}

// The first key of a side as the join sees it, if it is NULL where there is no row of the side and
// is not NULL in a pair. Otherwise null: an expression may have a value without a row.
Expr* key_of_pairs(const HashJoin* join, bool is_inner) {
  const auto* equal = linitial_node(OpExpr, join->hashclauses);
  auto* key = static_cast<Expr*>(is_inner ? lsecond(equal->args) : linitial(equal->args));
  return IsA(key, Var) && op_strict(equal->opno) ? key : nullptr;
}

Expr* outer_of_pairs(HashJoin* join, int* next_node) {
  Expr* key = key_of_pairs(join, false);
  return key != nullptr ? key : mark_of_outer(join, next_node);
}

Expr* inner_of_pairs(HashJoin* join, int* next_node) {
  Expr* key = key_of_pairs(join, true);
  return key != nullptr ? key : mark_of_inner(join, next_node);
}

bool are_columns(const List* keys) {
  const ListCell* cell;
  foreach (cell, keys) {
    if (!IsA(lfirst(cell), Var)) return false;
  }
  return true;
}

// The expression with those of a node in the place of its columns.
Node* in_terms_of(Node* expression, const Plan* node) {
  return mapped(expression, [=](const Node* part) -> Node* {
    if (!IsA(part, Var)) return nullptr;
    const auto* entry = list_nth_node(TargetEntry, node->targetlist, as<Var>(part)->varattno - 1);
    return static_cast<Node*>(copyObjectImpl(entry->expr));
  });
}

[[noreturn]] void refuse_join() {
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("the join of protected rows would take a time that depends on which rows match"),
       errdetail("Nothing was charged."), errhint("Join by = between columns of the same type.")));
}

struct Filter {
  Node* condition;  // on the columns of the parent's child
};

// Adds a condition on the rows of a node where they are made. The node that limits the rows of each
// user is not on a side of a join: it is right below the grouping of its release.
void add_filter(Plan** place, void* filter) {
  Plan* node = *place;
  Filter below = {in_terms_of(static_cast<Filter*>(filter)->condition, node)};
  switch (nodeTag(node)) {
    case T_Append:
    case T_MergeAppend:
    case T_Gather:
    case T_GatherMerge:
    case T_Hash:
    case T_IncrementalSort:
    case T_Material:
    case T_Result:
    case T_Sort:
      return visit_children(node, add_filter, &below);
    case T_CustomScan:  // Of another extension: it may not look at the condition.
      refuse_join();
    default:
      node->qual = lappend(node->qual, below.condition);
  }
}

// Leaves out the rows of a side with NULL in a key. A full join would keep them, all with one hash,
// and compare each with each NULL of the other side.
void leave_out_nulls(Plan** side, const List* keys) {
  const ListCell* cell;
  foreach (cell, keys) {
    if (IsA(lfirst(cell), Const)) continue;
    NullTest* condition = makeNode(NullTest);
    condition->arg = static_cast<Expr*>(copyObjectImpl(lfirst(cell)));
    condition->nulltesttype = IS_NOT_NULL;
    condition->location = -1;
    Filter filter = {as<Node>(condition)};
    add_filter(side, &filter);
  }
}

void leave_out_nulls_of_inner(HashJoin* join) {
  auto* hash = as<Hash>(join->join.plan.righttree);
  leave_out_nulls(&hash->plan.lefttree, hash->hashkeys);
}

void leave_out_nulls_of_outer(HashJoin* join) {
  leave_out_nulls(&join->join.plan.lefttree, join->hashkeys);
}

// Leaves them out of a side whose rows without partner the query does not ask for. Keys that are
// columns cost least.
void leave_out_nulls(HashJoin* join) {
  const auto* hash = as<Hash>(join->join.plan.righttree);
  switch (join->join.jointype) {
    case JOIN_INNER:
      return are_columns(hash->hashkeys) ? leave_out_nulls_of_inner(join)
                                         : leave_out_nulls_of_outer(join);
    case JOIN_LEFT:
    case JOIN_ANTI:
      return leave_out_nulls_of_inner(join);
    default:
      return leave_out_nulls_of_outer(join);
  }
}

[[noreturn]] void refuse_sort() {
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("grouping would sort protected rows, which takes a time that depends on single rows"),
       errdetail("Nothing was charged. A key in GROUP BY cannot be hashed."),
       errhint("Cast it to a type that can be hashed, such as text.")));
}

// A full join gives pairs, and the rows of each side that have no partner. The conditions leave
// those that the join gave before.
void make_full(HashJoin* join, int* next_node) {
  const JoinType type = join->join.jointype;
  leave_out_nulls(join);
  join->join.jointype = JOIN_FULL;
  // The statistics of one side would change what is kept of the other in memory.
  as<Hash>(join->join.plan.righttree)->skewTable = InvalidOid;
  switch (type) {
    case JOIN_INNER:
      require(join, IS_NOT_NULL, inner_of_pairs(join, next_node));
      return require(join, IS_NOT_NULL, outer_of_pairs(join, next_node));
    case JOIN_LEFT:
      return require(join, IS_NOT_NULL, mark_of_outer(join, next_node));
    case JOIN_RIGHT:
      return require(join, IS_NOT_NULL, mark_of_inner(join, next_node));
    case JOIN_ANTI:
      require(join, IS_NULL, inner_of_pairs(join, next_node));
      return require(join, IS_NOT_NULL, mark_of_outer(join, next_node));
#if PG_VERSION_NUM >= 160000
    case JOIN_RIGHT_ANTI:
      require(join, IS_NULL, outer_of_pairs(join, next_node));
      return require(join, IS_NOT_NULL, mark_of_inner(join, next_node));
#endif
    default:
      refuse_join();
  }
}

// All rows have the same key, so that each is compared with each.
HashJoin* hash_join_of(const NestLoop* loop, int* next_node) {
  HashJoin* join = makeNode(HashJoin);
  join->join = loop->join;
  join->join.plan.type = T_HashJoin;
  Expr* equal =
      make_opclause(Int4EqualOperator, BOOLOID, false, one(), one(), InvalidOid, InvalidOid);
  set_opfuncid(as<OpExpr>(equal));
  join->hashclauses = list_make1(equal);
  join->hashoperators = list_make1_oid(Int4EqualOperator);
  join->hashcollations = list_make1_oid(InvalidOid);
  join->hashkeys = list_make1(one());
  Plan* inner = join->join.plan.righttree;
  Hash* hash = makeNode(Hash);
  put_above(&hash->plan, inner);
  hash->hashkeys = list_make1(one());
  join->join.plan.righttree = numbered(&hash->plan, next_node);
  return join;
}

// For visit_below_releases(). `next` is an int*.
void change_join(Plan** place, void* next) {
  auto* next_node = static_cast<int*>(next);
  if (IsA(*place, NestLoop)) {
    const auto* loop = as<NestLoop>(*place);
    if (loop->nestParams == NIL) *place = &hash_join_of(loop, next_node)->join.plan;
  }
  if (IsA(*place, MergeJoin)) refuse_join();
  if (IsA(*place, Sort) || IsA(*place, IncrementalSort)) refuse_sort();
  if (IsA(*place, HashJoin)) make_full(as<HashJoin>(*place), next_node);
}

void find_largest_number(Plan** place, void* context) {
  auto* largest = static_cast<int*>(context);
  *largest = Max(*largest, (*place)->plan_node_id);
  visit_children(*place, find_largest_number, context);
}

}  // namespace

void make_joins_oblivious(PlannedStmt* plan) {
  int next_node = 0;
  visit_trees(plan, find_largest_number, &next_node);
  ++next_node;
  visit_below_releases(plan, change_join, &next_node);
}

}  // namespace dpquantile
