#include "pg/plain/query_scope.hpp"

#include "pg/protect/borrowed_relations.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
}

namespace dpquantile {

namespace {

const QueryScope* make_scope(Query* query, const QueryScope* parent) {
  auto* scope = static_cast<QueryScope*>(palloc(sizeof(QueryScope)));
  *scope = {query, parent};
  return scope;
}

const QueryScope* above(const QueryScope* scope, Index levels) {
  while (levels-- > 0 && scope != nullptr) scope = scope->parent;
  return scope;
}

// The query of a derived table or a CTE, or null.
const QueryScope* query_of(const QueryScope* scope, const RangeTblEntry* entry) {
  if (entry->rtekind == RTE_SUBQUERY) return make_scope(entry->subquery, scope);
  if (entry->rtekind != RTE_CTE || entry->self_reference) return nullptr;
  const QueryScope* defining = above(scope, entry->ctelevelsup);
  if (defining == nullptr) return nullptr;
  const ListCell* cell;
  foreach (cell, defining->query->cteList) {
    const auto* cte = static_cast<const CommonTableExpr*>(lfirst(cell));
    if (strcmp(cte->ctename, entry->ctename) != 0 || !IsA(cte->ctequery, Query)) continue;
    return make_scope(reinterpret_cast<Query*>(cte->ctequery), defining);
  }
  return nullptr;
}

bool combines_rows(const Query* query) {
  return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
         query->distinctClause != NIL || query->setOperations != nullptr ||
         query->havingQual != nullptr;
}

// The protected view that an entry shows, or invalid.
Oid protected_view(const Query* query, const RangeTblEntry* entry) {
  if (entry->rtekind != RTE_SUBQUERY) return InvalidOid;
  const RelationPermissions* permissions = permissions_of(query, entry);
  if (permissions == nullptr) return InvalidOid;
  return find_protected_relation(permissions->relid) != nullptr ? permissions->relid : InvalidOid;
}

bool is_borrowed(const Query* query, const RangeTblEntry* entry) {
  RelationPermissions* permissions = permissions_of(query, entry);
  return permissions != nullptr && borrows(permissions);
}

Oid protected_rows_of_entry(const QueryScope* scope, int number) {
  const RangeTblEntry* entry = rt_fetch(number, scope->query->rtable);
  if (is_borrowed(scope->query, entry)) return permissions_of(scope->query, entry)->relid;
  const QueryScope* below = query_of(scope, entry);
  return below == nullptr || combines_rows(below->query) ? InvalidOid : protected_rows_of(below);
}

Oid protected_rows_of_part(const QueryScope* scope, const Node* part) {
  if (IsA(part, RangeTblRef)) {
    return protected_rows_of_entry(scope, reinterpret_cast<const RangeTblRef*>(part)->rtindex);
  }
  if (!IsA(part, JoinExpr)) return InvalidOid;
  const auto* join = reinterpret_cast<const JoinExpr*>(part);
  const Oid left = protected_rows_of_part(scope, join->larg);
  return OidIsValid(left) ? left : protected_rows_of_part(scope, join->rarg);
}

struct Reading {
  const QueryScope* scope;
  Oid relation;
  int columns;  // that have been looked at
};
constexpr int kMostColumns = 1000;

// For expression_tree_walker(). `context` is a Reading*. What is too long to follow counts as a
// column of the relation.
bool find_column_of(Node* node, void* context) {
  if (node == nullptr) return false;
  if (!IsA(node, Var)) {
    return expression_tree_walker(node, DPQ_TREE_WALKER(find_column_of), context);
  }
  CHECK_FOR_INTERRUPTS();
  check_stack_depth();
  auto* reading = static_cast<Reading*>(context);
  if (++reading->columns > kMostColumns) return true;
  const auto definition = definition_of(reading->scope, reinterpret_cast<Var*>(node));
  if (!definition) {
    const auto origin = origin_of(reading->scope, node);
    return origin && origin->relation == reading->relation;
  }
  Reading below = {definition->scope, reading->relation, reading->columns};
  const bool found = find_column_of(definition->expression, &below);
  reading->columns = below.columns;
  return found;
}

}  // namespace

std::optional<ScopedExpression> definition_of(const QueryScope* scope, const Var* column) {
  scope = above(scope, column->varlevelsup);
  if (scope == nullptr || column->varattno < 1) return std::nullopt;
  const RangeTblEntry* entry = rt_fetch(column->varno, scope->query->rtable);
  if (entry->rtekind == RTE_JOIN) {
    auto* merged = static_cast<Node*>(list_nth(entry->joinaliasvars, column->varattno - 1));
    return ScopedExpression{scope, merged};
  }
  const QueryScope* below = query_of(scope, entry);
  if (below == nullptr || combines_rows(below->query)) return std::nullopt;
  if (OidIsValid(protected_view(scope->query, entry))) return std::nullopt;
  const List* columns = below->query->targetList;
  if (column->varattno > list_length(columns)) return std::nullopt;
  const auto* target = static_cast<const TargetEntry*>(list_nth(columns, column->varattno - 1));
  return ScopedExpression{below, reinterpret_cast<Node*>(target->expr)};
}

std::optional<ColumnOrigin> origin_of(const QueryScope* scope, const Node* expression) {
  if (expression == nullptr || !IsA(expression, Var)) return std::nullopt;
  const auto* column = reinterpret_cast<const Var*>(expression);
  if (const auto definition = definition_of(scope, column)) {
    return origin_of(definition->scope, definition->expression);
  }
  scope = above(scope, column->varlevelsup);
  if (scope == nullptr || column->varattno < 1) return std::nullopt;
  const RangeTblEntry* entry = rt_fetch(column->varno, scope->query->rtable);
  const Oid view = protected_view(scope->query, entry);
  if (OidIsValid(view)) return ColumnOrigin{view, column->varattno};
  if (entry->rtekind != RTE_RELATION) return std::nullopt;
  return ColumnOrigin{entry->relid, column->varattno};
}

Oid protected_rows_of(const QueryScope* scope) {
  const ListCell* cell;
  foreach (cell, scope->query->jointree->fromlist) {
    const Oid relation = protected_rows_of_part(scope, static_cast<const Node*>(lfirst(cell)));
    if (OidIsValid(relation)) return relation;
  }
  return InvalidOid;
}

bool is_protected_entry(const QueryScope* scope, int number) {
  return is_borrowed(scope->query, rt_fetch(number, scope->query->rtable));
}

const QueryScope* query_of_entry(const QueryScope* scope, int number) {
  return query_of(scope, rt_fetch(number, scope->query->rtable));
}

bool reads_relation(const QueryScope* scope, Node* expression, Oid relation) {
  Reading reading = {scope, relation, 0};
  return find_column_of(expression, &reading);
}

}  // namespace dpquantile
