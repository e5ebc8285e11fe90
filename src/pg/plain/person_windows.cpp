#include "pg/plain/person_windows.hpp"

#include "pg/plain/query_around.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

bool is_key(const List* keys, const TargetEntry* column) {
  return column->ressortgroupref != 0 &&
         get_sortgroupref_clause_noerr(column->ressortgroupref, const_cast<List*>(keys)) != nullptr;
}

bool is_key_of_window(const Query* query, const TargetEntry* column) {
  for (const auto* window : each<const WindowClause>(query->windowClause)) {
    if (is_key(window->partitionClause, column) || is_key(window->orderClause, column)) return true;
  }
  return false;
}

void select_from_below(Query* query, Query* below) {
  query->windowClause = NIL;
  query->hasWindowFuncs = false;
  query->cteList = NIL;
  query->hasRecursive = false;
  query->hasModifyingCTE = false;
  query->hasSubLinks = false;
  select_from(query, below);
}

// ---- Window functions ----------------------------------------------------------------------

TargetEntry* add_column(List** columns, Node* expression) {
  for (auto* column : each<TargetEntry>(*columns)) {
    if (equal(column->expr, expression)) return column;
  }
  const int number = list_length(*columns) + 1;
  TargetEntry* column =
      makeTargetEntry(static_cast<Expr*>(copyObjectImpl(expression)),
                      static_cast<AttrNumber>(number), psprintf("c%d", number), false);
  *columns = lappend(*columns, column);
  return column;
}

List* keys_of_windows(const Query* query) {
  List* columns = NIL;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (!is_key_of_window(query, column)) continue;
    add_column(&columns, as<Node>(column->expr))->ressortgroupref = column->ressortgroupref;
  }
  return columns;
}

bool is_of_rows(const List* columns, Node* node) {
  if (IsA(node, WindowFunc)) return true;
  if (IsA(node, Var)) return as<Var>(node)->varlevelsup == 0;
  for (const auto* column : each<const TargetEntry>(columns)) {
    if (equal(column->expr, node)) return true;
  }
  return false;
}

// Without those that only a window needs.
List* columns_around(const Query* query) {
  List* columns = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    const bool is_needed = !column->resjunk || is_key(query->sortClause, column) ||
                           is_key(query->distinctClause, column);
    if (!is_needed) continue;
    columns = lappend(columns, column);
    column->resno = static_cast<AttrNumber>(list_length(columns));
  }
  return columns;
}

}  // namespace

bool put_windows_below(Query* query) {
  if (checkExprHasSubLink(as<Node>(query->targetList))) return false;
  List* columns = keys_of_windows(query);
  List* around = mapped(columns_around(query), [&](Node* node) {
    return is_of_rows(columns, node) ? as<Node>(column_of_table(add_column(&columns, node)))
                                     : nullptr;
  });
  Query* below = query_below(query, columns);
  query->targetList = around;
  select_from_below(query, below);
  return true;
}

// ---- DISTINCT ON ---------------------------------------------------------------------------

namespace {

// The rows with equal keys of DISTINCT ON, in the order of ORDER BY.
WindowClause* window_of_keys(const Query* query) {
  WindowClause* window = makeNode(WindowClause);
  window->partitionClause = static_cast<List*>(copyObjectImpl(query->distinctClause));
  for (const auto* key : each<const SortGroupClause>(query->sortClause)) {
    const Index reference = key->tleSortGroupRef;
    if (get_sortgroupref_clause_noerr(reference, query->distinctClause) != nullptr) continue;
    window->orderClause = lappend(window->orderClause, copyObjectImpl(key));
  }
  window->frameOptions = FRAMEOPTION_DEFAULTS;
  for (const auto* other : each<const WindowClause>(query->windowClause)) {
    window->winref = Max(window->winref, other->winref);
  }
  ++window->winref;
  return window;
}

Node* number_of_row(const WindowClause* window) {
  WindowFunc* number = makeNode(WindowFunc);
  number->winfnoid = F_ROW_NUMBER;
  number->wintype = INT8OID;
  number->winref = window->winref;
  number->location = -1;
  return as<Node>(number);
}

// The columns of the query, all of them shown.
List* shown_columns(const Query* query) {
  auto* columns = static_cast<List*>(copyObjectImpl(query->targetList));
  for (auto* column : each<TargetEntry>(columns)) {
    column->resjunk = false;
    if (column->resname == nullptr) column->resname = psprintf("c%d", column->resno);
  }
  return columns;
}

Node* is_first(const TargetEntry* number) {
  Const* first =
      makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1), false, FLOAT8PASSBYVAL);
  const Oid operation = lookup_type_cache(INT8OID, TYPECACHE_EQ_OPR)->eq_opr;
  auto* equal =
      as<OpExpr>(make_opclause(operation, BOOLOID, false, as<Expr>(column_of_table(number)),
                               as<Expr>(first), InvalidOid, InvalidOid));
  set_opfuncid(equal);
  return as<Node>(equal);
}

}  // namespace

bool pick_first_rows(Query* query) {
  if (checkExprHasSubLink(as<Node>(query->targetList))) return false;
  WindowClause* window = window_of_keys(query);
  List* columns = shown_columns(query);
  TargetEntry* number =
      makeTargetEntry(as<Expr>(number_of_row(window)),
                      static_cast<AttrNumber>(list_length(columns) + 1), pstrdup("number"), false);
  Query* below = query_below(query, lappend(columns, number));
  below->windowClause = lappend(below->windowClause, window);
  below->hasWindowFuncs = true;
  List* around = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    if (column->resjunk) continue;
    column->expr = as<Expr>(column_of_table(column));
    column->ressortgroupref = 0;
    around = lappend(around, column);
  }
  query->targetList = around;
  query->distinctClause = NIL;
  query->hasDistinctOn = false;
  query->sortClause = NIL;
  select_from_below(query, below);
  query->jointree->quals = is_first(number);
  return true;
}

}  // namespace dpquantile
