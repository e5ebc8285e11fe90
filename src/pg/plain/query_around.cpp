#include "pg/plain/query_around.hpp"

#include "pg/plain/error_of_answer.hpp"
#include "pg/server/permissions_of_entry.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
}

namespace dpquantile {

namespace {

// What the derived table computes, and the expressions for which its columns stand.
struct Inner {
  List* columns;
  List* expressions;
};

TargetEntry* append_column(Inner* inner, Node* expression, const char* name) {
  const int number = list_length(inner->columns) + 1;
  TargetEntry* column = makeTargetEntry(
      static_cast<Expr*>(copyObjectImpl(expression)), static_cast<AttrNumber>(number),
      name != nullptr ? pstrdup(name) : psprintf("c%d", number), false);
  inner->columns = lappend(inner->columns, column);
  inner->expressions = lappend(inner->expressions, expression);
  return column;
}

TargetEntry* add_column(Inner* inner, Node* expression) {
  const ListCell* cell;
  foreach (cell, inner->expressions) {
    if (equal(expression, lfirst(cell))) {
      return static_cast<TargetEntry*>(list_nth(inner->columns, foreach_current_index(cell)));
    }
  }
  return append_column(inner, expression, nullptr);
}

// A key that is written twice has two columns.
void add_keys(Inner* inner, const Query* query) {
  for (auto* clause : each<SortGroupClause>(query->groupClause)) {
    Node* key = get_sortgroupclause_expr(clause, query->targetList);
    const char* name = name_of_column(query, get_sortgroupclause_tle(clause, query->targetList));
    append_column(inner, key, name)->ressortgroupref = clause->tleSortGroupRef;
  }
}

// The column of the key that a clause refers to; null for other clauses.
const TargetEntry* key_of(const Inner& inner, Index reference) {
  for (const auto* column : each<const TargetEntry>(inner.columns)) {
    if (reference != 0 && column->ressortgroupref == reference) return column;
  }
  return nullptr;
}

bool is_of_groups(const Inner& inner, const Node* node) {
  if (IsA(node, Aggref) && as<Aggref>(node)->agglevelsup == 0) return true;
  if (IsA(node, GroupingFunc) || is_error_of_answer(node)) return true;
  if (IsA(node, Var) && as<Var>(node)->varlevelsup == 0) return true;
  return list_member(inner.expressions, node);
}

// The clauses of the query that are about groups.
Query* query_of_groups(const Query* query, List* columns) {
  Query* made = query_below(query, columns);
  made->hasWindowFuncs = false;
  made->windowClause = NIL;
  return made;
}

template <class Tree>
Tree* over_groups(Inner* inner, Tree* tree) {
  return mapped(tree, [=](Node* node) {
    return is_of_groups(*inner, node) ? as<Node>(column_of_table(add_column(inner, node)))
                                      : nullptr;
  });
}

// The columns of the query, over those of the derived table. A key that is written twice is NULL in
// one of its columns where GROUPING SETS have the other.
List* columns_over_groups(Inner* inner, const List* columns) {
  List* over = NIL;
  for (const auto* column : each<const TargetEntry>(columns)) {
    auto* made = static_cast<TargetEntry*>(copyObjectImpl(column));
    const TargetEntry* key = key_of(*inner, column->ressortgroupref);
    made->expr = key != nullptr ? as<Expr>(column_of_table(key)) : over_groups(inner, column->expr);
    over = lappend(over, made);
  }
  return over;
}

// Whether a clause that stays around the groups names a column.
bool is_used(const Query* query, const TargetEntry* column) {
  const Index reference = column->ressortgroupref;
  const auto is_in = [=](List* clauses) {
    return get_sortgroupref_clause_noerr(reference, clauses) != nullptr;
  };
  for (const auto* window : each<const WindowClause>(query->windowClause)) {
    if (is_in(window->partitionClause) || is_in(window->orderClause)) return true;
  }
  return is_in(query->sortClause) || is_in(query->distinctClause);
}

// Without the keys that the query groups by and does not show.
List* without_hidden_keys(const Query* query, List* columns) {
  List* shown = NIL;
  for (auto* column : each<TargetEntry>(columns)) {
    if (!column->resjunk || is_used(query, column)) shown = lappend(shown, column);
  }
  return shown;
}

}  // namespace

const char* name_of_column(const Query* query, const TargetEntry* column) {
  if (!column->resjunk && column->resname != nullptr) return column->resname;
  const auto* value = as<Var>(column->expr);
  if (!IsA(value, Var) || value->varlevelsup > 0 || value->varattno < 1) return nullptr;
  return get_rte_attribute_name(rt_fetch(value->varno, query->rtable), value->varattno);
}

Var* column_of_table(const TargetEntry* column) {
  auto* expression = as<Node>(column->expr);
  return makeVar(1, column->resno, exprType(expression), exprTypmod(expression),
                 exprCollation(expression), 0);
}

Node* aggregate_of_condition(Oid function, Node* condition) {
  Aggref* call = makeNode(Aggref);
  call->aggfnoid = function;
  call->aggtype = BOOLOID;
  call->aggargtypes = list_make1_oid(BOOLOID);
  call->args = list_make1(makeTargetEntry(as<Expr>(condition), 1, nullptr, false));
  call->aggkind = AGGKIND_NORMAL;
  call->aggsplit = AGGSPLIT_SIMPLE;
  call->aggno = -1;
  call->aggtransno = -1;
  call->location = -1;
  return as<Node>(call);
}

Query* query_below(const Query* query, List* columns) {
  auto* made = static_cast<Query*>(copyObjectImpl(query));
  made->targetList = columns;
  made->distinctClause = NIL;
  made->hasDistinctOn = false;
  made->sortClause = NIL;
  made->limitOffset = nullptr;
  made->limitCount = nullptr;
  IncrementVarSublevelsUp(as<Node>(made), 1, 1);
  return made;
}

void select_from(Query* query, Query* table) {
  query->rtable = NIL;
  DPQ_FORGET_PERMISSIONS(query);
  DPQ_FORGET_GROUP_KEYS(query);
  query->rtable = list_make1(derived_table(table));
  RangeTblRef* reference = makeNode(RangeTblRef);
  reference->rtindex = 1;
  query->jointree = makeFromExpr(list_make1(reference), nullptr);
  query->groupClause = NIL;
  query->groupingSets = NIL;
  query->groupDistinct = false;
  query->havingQual = nullptr;
  query->hasAggs = false;
}

namespace {

// A query of all columns of an entry, without its range table.
Query* select_columns_of(const Query* columns, int number) {
  Query* made = makeNode(Query);
  made->commandType = CMD_SELECT;
  made->canSetTag = true;
  RangeTblRef* reference = makeNode(RangeTblRef);
  reference->rtindex = number;
  made->jointree = makeFromExpr(list_make1(reference), nullptr);
  for (const auto* column : each<const TargetEntry>(columns->targetList)) {
    if (column->resjunk) continue;
    auto* expression = as<Node>(column->expr);
    Var* value = makeVar(number, column->resno, exprType(expression), exprTypmod(expression),
                         exprCollation(expression), 0);
    TargetEntry* shown = makeTargetEntry(as<Expr>(value), column->resno, column->resname, false);
    made->targetList = lappend(made->targetList, shown);
  }
  return made;
}

}  // namespace

Query* select_all_from(Query* view) {
  List* entries = NIL;
  DPQ_TAKE_ENTRY_OF_VIEW(&entries, view);
  Query* made = select_columns_of(view, list_length(entries) + 1);
  made->rtable = lappend(entries, derived_table(view));
  return made;
}

void put_view_below(Query* query, RangeTblEntry* view) {
  move_into_subquery(query, view, select_columns_of(view->subquery, 1));
}

RangeTblEntry* derived_table(Query* query) {
  RangeTblEntry* entry = makeNode(RangeTblEntry);
  entry->rtekind = RTE_SUBQUERY;
  entry->subquery = query;
  List* names = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    if (!column->resjunk) names = lappend(names, makeString(column->resname));
  }
  entry->eref = makeAlias("groups", names);
  entry->inFromCl = true;
  return entry;
}

bool has_query_around(const Query* query) {
  return query->commandType == CMD_SELECT && query->hasAggs &&
         (query->hasWindowFuncs || query->distinctClause != NIL) && query->cteList == NIL &&
         !query->hasSubLinks && query->rowMarks == NIL;
}

void put_query_around(Query* query) {
  Inner inner = {NIL, NIL};
  add_keys(&inner, query);
  List* columns = columns_over_groups(&inner, query->targetList);
  Query* groups = query_of_groups(query, inner.columns);
  query->targetList = columns;
  select_from(query, groups);
}

bool give_plain_form(Query* query) {
  const auto is_of_answers = [](const Node* node) {
    return IsA(node, GroupingFunc) || is_error_of_answer(node);
  };
  if (any_node(query->targetList, is_of_answers) || any_node(query->havingQual, is_of_answers)) {
    return false;
  }
  if (checkExprHasSubLink(as<Node>(query->targetList)) || checkExprHasSubLink(query->havingQual)) {
    return false;
  }
  if (query->groupClause == NIL && !query->hasAggs) {
    query->groupClause = query->distinctClause;
    query->distinctClause = NIL;
    if (has_plain_form(query)) return true;
  }
  Inner inner = {NIL, NIL};
  add_keys(&inner, query);
  List* columns = columns_over_groups(&inner, query->targetList);
  Node* condition = over_groups(&inner, query->havingQual);
  Query* groups = query_of_groups(query, inner.columns);
  groups->havingQual = nullptr;
  query->targetList = without_hidden_keys(query, columns);
  query->cteList = NIL;
  query->hasRecursive = false;
  query->hasModifyingCTE = false;
  query->hasSubLinks = false;
  query->constraintDeps = NIL;
  select_from(query, groups);
  query->jointree->quals = condition;
  return true;
}

}  // namespace dpquantile
