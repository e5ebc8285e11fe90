#include "pg/query/column.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// Whether an expression of a level is a column of a table, and of which.
bool shows(const Level* level, const Node* expression, const ColumnOrigin& searched) {
  const auto origin = origin_of(level, expression);
  return origin && origin->relation == searched.relation && origin->column == searched.column;
}

Node* column_showing_in_part(const Level* level, const Node* part, const ColumnOrigin& searched) {
  if (IsA(part, RangeTblRef)) {
    return column_showing_in(level, as<RangeTblRef>(part)->rtindex, searched);
  }
  if (!IsA(part, JoinExpr)) return nullptr;
  const auto* join = as<JoinExpr>(part);
  Node* left = column_showing_in_part(level, join->larg, searched);
  return left != nullptr ? left : column_showing_in_part(level, join->rarg, searched);
}

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

}  // namespace

Node* column_showing_in(const Level* level, int number, const ColumnOrigin& searched) {
  const Entry& entry = entry_of(level, number);
  if (entry.relation == searched.relation) {
    Oid type;
    int32 modifier;
    Oid collation;
    get_atttypetypmodcoll(entry.relation, searched.column, &type, &modifier, &collation);
    return as<Node>(makeVar(number, searched.column, type, modifier, collation, 0));
  }
  if (entry.below == nullptr || combines_rows(entry.below->query)) return nullptr;
  for (const auto* column : each<const TargetEntry>(entry.below->query->targetList)) {
    const auto* expression = as<Node>(column->expr);
    if (column->resjunk || !shows(entry.below, expression, searched)) continue;
    return as<Node>(makeVar(number, column->resno, exprType(expression), exprTypmod(expression),
                            exprCollation(expression), 0));
  }
  return nullptr;
}

Node* merged_column(const Query* query, const Var* column) {
  const auto* table = rt_fetch(column->varno, query->rtable);
  if (table->rtekind != RTE_JOIN || column->varattno < 1) return nullptr;
  return static_cast<Node*>(list_nth(table->joinaliasvars, column->varattno - 1));
}

std::optional<LevelExpression> definition_of(const Level* level, const Var* column) {
  CHECK_FOR_INTERRUPTS();
  level = around(level, column->varlevelsup);
  if (level == nullptr || column->varattno < 1) return std::nullopt;
  if (Node* merged = merged_column(level->query, column)) return LevelExpression{level, merged};
  const Entry& entry = entry_of(level, column->varno);
  if (entry.below == nullptr || combines_rows(entry.below->query)) return std::nullopt;
  if (OidIsValid(entry.relation)) return std::nullopt;
  const List* columns = entry.below->query->targetList;
  if (column->varattno > list_length(columns)) return std::nullopt;
  const auto* target = static_cast<const TargetEntry*>(list_nth(columns, column->varattno - 1));
  return LevelExpression{entry.below, as<Node>(target->expr)};
}

std::optional<ColumnOrigin> origin_of(const Level* level, const Node* expression) {
  if (expression == nullptr || !IsA(expression, Var)) return std::nullopt;
  const auto* column = as<Var>(expression);
  if (const auto definition = definition_of(level, column)) {
    return origin_of(definition->level, definition->expression);
  }
  level = around(level, column->varlevelsup);
  if (level == nullptr || column->varattno < 1) return std::nullopt;
  const Oid relation = entry_of(level, column->varno).relation;
  return OidIsValid(relation) ? std::optional(ColumnOrigin{relation, column->varattno})
                              : std::nullopt;
}

Node* column_showing(const Level* level, const ColumnOrigin& origin) {
  for (const auto* node : each<const Node>(level->query->jointree->fromlist)) {
    Node* column = column_showing_in_part(level, node, origin);
    if (column != nullptr) return column;
  }
  return nullptr;
}

Bitmapset* nulling_joins(const Node* part, int entry) {
  Bitmapset* joins = nullptr;
  if (part != nullptr) (void)add_nulling_joins(part, entry, &joins);
  return joins;
}

Node* column_showing_users(const Level* level, Oid relation) {
  const ProtectedRelation* protection = find_protected_relation(relation);
  if (protection == nullptr) return nullptr;
  if (!OidIsValid(protection->through)) {
    return column_showing(level, {relation, protection->user_column});
  }
  const UserColumn users = column_of_users(relation);
  if (!OidIsValid(users.relation)) return nullptr;
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(users.relation, users.number, &type, &modifier, &collation);
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    const Entry& entry = entry_of(level, number);
    if (!entry.is_in_from || entry.relation != relation || entry.below != nullptr) continue;
    const auto added = static_cast<AttrNumber>(list_length(entry.table->eref->colnames) + 1);
    return as<Node>(makeVar(number, added, type, modifier, collation, 0));
  }
  return nullptr;
}

}  // namespace dpquantile
