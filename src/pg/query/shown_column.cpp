#include "pg/query/shown_column.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr char kColumnName[] = "dpquantile user";

// Adds the outer joins in a part of FROM that put NULLs in the place of an entry. Returns whether
// the part has the entry.
bool add_nulling_joins(const Node* part, int entry, Bitmapset** joins) {
  if (IsA(part, RangeTblRef)) return as<RangeTblRef>(part)->rtindex == entry;
  if (IsA(part, FromExpr)) {
    for (const auto* node : each<const Node>(as<FromExpr>(part)->fromlist)) {
      if (add_nulling_joins(node, entry, joins)) return true;
    }
    return false;
  }
  if (!IsA(part, JoinExpr)) return false;
  const auto* join = as<JoinExpr>(part);
  const bool is_left = add_nulling_joins(join->larg, entry, joins);
  if (!is_left && !add_nulling_joins(join->rarg, entry, joins)) return false;
  const bool may_be_null =
      join->jointype == JOIN_FULL || join->jointype == (is_left ? JOIN_RIGHT : JOIN_LEFT);
  if (may_be_null) *joins = bms_add_member(*joins, join->rtindex);
  return true;
}

void add_to_cte(CommonTableExpr* cte, const Node* user) {
  cte->ctecolnames = lappend(cte->ctecolnames, makeString(pstrdup(kColumnName)));
  cte->ctecoltypes = lappend_oid(cte->ctecoltypes, exprType(user));
  cte->ctecoltypmods = lappend_int(cte->ctecoltypmods, exprTypmod(user));
  cte->ctecolcollations = lappend_oid(cte->ctecolcollations, exprCollation(user));
}

// Entries of one CTE may have been made before the column was added.
void make_columns_known(RangeTblEntry* entry, const Query* source) {
  for (int i = list_length(entry->eref->colnames); i < list_length(source->targetList); ++i) {
    const auto* column = static_cast<const TargetEntry*>(list_nth(source->targetList, i));
    const auto* expression = as<Node>(column->expr);
    entry->eref->colnames =
        lappend(entry->eref->colnames,
                makeString(pstrdup(column->resname == nullptr ? "?column?" : column->resname)));
    if (entry->rtekind != RTE_CTE) continue;
    entry->coltypes = lappend_oid(entry->coltypes, exprType(expression));
    entry->coltypmods = lappend_int(entry->coltypmods, exprTypmod(expression));
    entry->colcollations = lappend_oid(entry->colcollations, exprCollation(expression));
  }
}

bool has_junk(const Query* query) {
  for (const auto* entry : each<const TargetEntry>(query->targetList)) {
    if (entry->resjunk) return true;
  }
  return false;
}

// The number of the column; 0 if there is none.
AttrNumber find_expression(const Query* query, const Node* expression) {
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (!column->resjunk && equal(column->expr, expression)) return column->resno;
  }
  return 0;
}

AttrNumber require_expression(const Entry& entry, Node* expression) {
  Query* query = entry.below->query;
  if (const AttrNumber number = find_expression(query, expression)) return number;
  if (has_junk(query) || combines_rows(query)) return 0;
  const auto number = static_cast<AttrNumber>(list_length(query->targetList) + 1);
  query->targetList = lappend(query->targetList, makeTargetEntry(as<Expr>(expression), number,
                                                                 pstrdup(kColumnName), false));
  if (entry.cte != nullptr) add_to_cte(entry.cte, expression);
  return number;
}

// Null if the entry does not have it.
Node* show_column_of_entry(const Level* level, int number, const ColumnOrigin& searched) {
  const Entry& entry = entry_of(level, number);
  if (entry.relation == searched.relation) {
    Oid type;
    int32 modifier;
    Oid collation;
    get_atttypetypmodcoll(entry.relation, searched.column, &type, &modifier, &collation);
    return column_of_entry(level, number, searched.column, type, modifier, collation);
  }
  if (OidIsValid(entry.relation) || entry.below == nullptr || hides_rows(entry.below)) {
    return nullptr;
  }
  Node* below = show_column(entry.below, searched);
  return below == nullptr ? nullptr : show_expression(level, number, below);
}

Node* show_column_of_part(const Level* level, const Node* part, const ColumnOrigin& searched) {
  if (IsA(part, RangeTblRef)) {
    return show_column_of_entry(level, as<RangeTblRef>(part)->rtindex, searched);
  }
  if (!IsA(part, JoinExpr)) return nullptr;
  const auto* join = as<JoinExpr>(part);
  Node* left = show_column_of_part(level, join->larg, searched);
  return left != nullptr ? left : show_column_of_part(level, join->rarg, searched);
}

}  // namespace

Node* column_of_entry(const Level* level, int entry, AttrNumber number, Oid type, int32 modifier,
                      Oid collation) {
  Var* column = makeVar(entry, number, type, modifier, collation, 0);
  Bitmapset* joins = nullptr;
  (void)add_nulling_joins(as<Node>(level->query->jointree), entry, &joins);
  DPQ_SET_NULLING_JOINS(column, joins);
  return as<Node>(column);
}

Node* show_expression(const Level* level, int number, Node* expression) {
  RangeTblEntry* table = rt_fetch(number, level->query->rtable);
  const Entry& entry = entry_of(level, number);
  if ((table->rtekind != RTE_SUBQUERY && table->rtekind != RTE_CTE) || entry.below == nullptr) {
    return nullptr;
  }
  const AttrNumber column = require_expression(entry, expression);
  if (column == 0) return nullptr;
  make_columns_known(table, entry.below->query);
  return column_of_entry(level, number, column, exprType(expression), exprTypmod(expression),
                         exprCollation(expression));
}

Node* show_column(const Level* level, const ColumnOrigin& origin) {
  for (const auto* part : each<const Node>(level->query->jointree->fromlist)) {
    Node* column = show_column_of_part(level, part, origin);
    if (column != nullptr) return column;
  }
  return nullptr;
}

}  // namespace dpquantile
