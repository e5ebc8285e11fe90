#include "pg/plain/subquery_join.hpp"

#include "pg/plain/query_around.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parse_oper.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

OpExpr* as_equality(Node* expression) {
  if (!IsA(expression, OpExpr)) return nullptr;
  auto* operation = as<OpExpr>(expression);
  if (list_length(operation->args) != 2) return nullptr;
  const Oid type = exprType(static_cast<Node*>(linitial(operation->args)));
  return op_hashjoinable(operation->opno, type) ? operation : nullptr;
}

Node* is_not_null(Node* value) {
  NullTest* test = makeNode(NullTest);
  test->arg = as<Expr>(value);
  test->nulltesttype = IS_NOT_NULL;
  test->location = -1;
  return as<Node>(test);
}

Node* value_if(Node* condition, Node* value) {
  CaseWhen* branch = makeNode(CaseWhen);
  branch->expr = as<Expr>(condition);
  branch->result = as<Expr>(value);
  branch->location = -1;
  CaseExpr* choice = makeNode(CaseExpr);
  choice->casetype = exprType(value);
  choice->casecollid = exprCollation(value);
  choice->args = list_make1(branch);
  choice->defresult = as<Expr>(makeNullConst(exprType(value), -1, exprCollation(value)));
  choice->location = -1;
  return as<Node>(choice);
}

Var* column_below(const Var* column, Index levels) {
  auto* moved = static_cast<Var*>(copyObjectImpl(column));
  moved->varlevelsup = levels;
  return moved;
}

void forget_group_keys(Query* query) {
  DPQ_FORGET_GROUP_KEYS(query);
  for (auto* entry : each<RangeTblEntry>(query->rtable)) DPQ_FORGET_GROUP_ENTRY(entry);
}

const Level* level_of(const Level* level, const SubLink* link) {
  for (const auto* below : each<const Level>(level->below)) {
    if (as<Node>(below->query) == link->subselect) return below;
  }
  return nullptr;
}

// LIMIT 1 changes nothing of what EXISTS or one row of aggregates says.
bool may_leave_out_rows(const Query* query) {
  if (query->limitOffset != nullptr) return true;
  const Node* limit = eval_const_expressions(nullptr, query->limitCount);
  if (limit == nullptr) return false;
  if (!IsA(limit, Const)) return true;
  const auto* rows = as<Const>(limit);
  return !rows->constisnull && DatumGetInt64(rows->constvalue) < 1;
}

SortGroupClause* grouping_by(const TargetEntry* column) {
  SortGroupClause* clause = makeNode(SortGroupClause);
  clause->tleSortGroupRef = column->ressortgroupref;
  get_sort_group_operators(exprType(as<Node>(column->expr)), false, true, false, &clause->sortop,
                           &clause->eqop, nullptr, &clause->hashable);
  return clause;
}

void group_by_more(Query* query, const List* keys) {
  query->targetList = list_copy(query->targetList);
  query->groupClause = list_copy(query->groupClause);
  for (auto* expression : each<Node>(keys)) {
    const auto number = static_cast<AttrNumber>(list_length(query->targetList) + 1);
    TargetEntry* key =
        makeTargetEntry(static_cast<Expr*>(copyObjectImpl(expression)), number, nullptr, true);
    query->targetList = lappend(query->targetList, key);
    key->ressortgroupref = assignSortGroupRef(key, query->targetList);
    query->groupClause = lappend(query->groupClause, grouping_by(key));
  }
}

void append_column(List** columns, TargetEntry* column) {
  column->resno = static_cast<AttrNumber>(list_length(*columns) + 1);
  column->resname = psprintf("c%d", column->resno);
  column->resjunk = false;
  *columns = lappend(*columns, column);
}

TargetEntry* column_of(Node* expression, Index reference) {
  TargetEntry* column = makeTargetEntry(as<Expr>(expression), 0, nullptr, false);
  column->ressortgroupref = reference;
  return column;
}

namespace {

bool has_entry(const Node* part, int number) {
  if (IsA(part, RangeTblRef)) return as<RangeTblRef>(part)->rtindex == number;
  if (!IsA(part, JoinExpr)) return false;
  const auto* join = as<JoinExpr>(part);
  return join->rtindex == number || has_entry(join->larg, number) || has_entry(join->rarg, number);
}

// The parts of FROM that no outer join separates from the expressions of the place.
List* parts_of(const Place* place) {
  return place->join == nullptr ? place->level->query->jointree->fromlist
                                : list_make2(place->join->larg, place->join->rarg);
}

void replace_part(const Place* place, const Node* part, Node* other) {
  ListCell* cell;
  foreach (cell, place->level->query->jointree->fromlist) {
    if (lfirst(cell) == part) lfirst(cell) = other;
  }
  if (place->join == nullptr) return;
  if (place->join->larg == part) place->join->larg = other;
  if (place->join->rarg == part) place->join->rarg = other;
}

int add_entry(Query* query, RangeTblEntry* entry) {
  query->rtable = lappend(query->rtable, entry);
  return list_length(query->rtable);
}

RangeTblEntry* entry_of_join(JoinType type) {
  RangeTblEntry* entry = makeNode(RangeTblEntry);
  entry->rtekind = RTE_JOIN;
  entry->jointype = type;
  entry->eref = makeAlias("subquery", NIL);
  entry->inFromCl = true;
  return entry;
}

bool has_rows(const Place* place, const Node* part) {
  if (IsA(part, JoinExpr)) {
    return has_rows(place, as<JoinExpr>(part)->larg) || has_rows(place, as<JoinExpr>(part)->rarg);
  }
  if (!IsA(part, RangeTblRef)) return false;
  const int number = as<RangeTblRef>(part)->rtindex;
  if (number > place->entries) return false;
  const Entry& entry = entry_of(place->level, number);
  return entry.borrowed != nullptr ||
         (entry.below != nullptr && entry.below->borrowed_rows != NIL && !hides_rows(entry.below));
}

bool has_all(const Node* part, const Bitmapset* entries) {
  int number = -1;
  while ((number = bms_next_member(entries, number)) >= 0) {
    if (!has_entry(part, number)) return false;
  }
  return true;
}

JoinExpr* join_of(JoinType type, Node* left, Node* right, Query* query) {
  JoinExpr* join = makeNode(JoinExpr);
  join->jointype = type;
  join->larg = left;
  join->rarg = right;
  join->rtindex = add_entry(query, entry_of_join(type));
  return join;
}

// WHERE has the conditions by which the parts of the list are joined.
Node* make_one_part(Query* query) {
  Node* all = nullptr;
  for (auto* part : each<Node>(query->jointree->fromlist)) {
    if (all == nullptr) {
      all = part;
      continue;
    }
    JoinExpr* join = join_of(JOIN_INNER, all, part, query);
    join->quals = makeBoolConst(true, false);
    all = as<Node>(join);
  }
  query->jointree->fromlist = list_make1(all);
  return all;
}

}  // namespace

Place place_in(const Level* level, JoinExpr* join) {
  return {level, join, list_length(level->query->rtable), NIL, NIL, NIL};
}

Node* part_with(const Place* place, int number) {
  for (auto* part : each<Node>(parts_of(place))) {
    if (has_entry(part, number)) return part;
  }
  return nullptr;
}

Node* part_with_all(const Place* place, const Bitmapset* entries) {
  const bool is_public = place->level->borrowed_rows == NIL;
  for (auto* part : each<Node>(parts_of(place))) {
    if (has_all(part, entries) && (is_public || has_rows(place, part))) return part;
  }
  return place->join == nullptr ? make_one_part(place->level->query) : nullptr;
}

Node* part_with_rows(const Place* place) {
  const bool is_public = place->level->borrowed_rows == NIL;
  for (auto* part : each<Node>(parts_of(place))) {
    if (is_public || has_rows(place, part)) return part;
  }
  return nullptr;
}

Var* column_in_join(const Joined& joined, int number) {
  const auto* column =
      static_cast<const TargetEntry*>(list_nth(joined.group->targetList, number - 1));
  Var* made = column_of_table(column);
  made->varno = joined.entry;
  made->varnosyn = static_cast<Index>(joined.entry);
  made->varattnosyn = made->varattno;
  return made;
}

Node* column_of_group(const Joined& joined, int number) {
  Var* column = column_in_join(joined, number);
  DPQ_SET_NULLING_JOINS(column, bms_make_singleton(joined.join->rtindex));
  return as<Node>(column);
}

Joined join_derived(const Place* place, Query* derived, Node* part) {
  Query* query = place->level->query;
  RangeTblRef* reference = makeNode(RangeTblRef);
  reference->rtindex = add_entry(query, derived_table(derived));
  JoinExpr* join = join_of(JOIN_LEFT, part, as<Node>(reference), query);
  replace_part(place, part, as<Node>(join));
  return {derived, reference->rtindex, join};
}

}  // namespace dpquantile
