#include "pg/plain/query_scope.hpp"

#include "pg/grants/borrowed_relations.hpp"
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

// A CTE is looked up for each entry that names it. If each names the one before twice, their number
// doubles each time.
constexpr int kMostLookups = 200000;

const QueryScope* make_scope(Query* query, const QueryScope* parent) {
  CHECK_FOR_INTERRUPTS();
  if (++*parent->lookups > kMostLookups) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("the WITH queries of the query name each other too often"),
                    errdetail("Written out, they would be read more than %d times.", kMostLookups),
                    errhint("Name each of them fewer times, or ask several queries.")));
  }
  auto* scope = static_cast<QueryScope*>(palloc(sizeof(QueryScope)));
  *scope = {query, parent, parent->lookups};
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
  for (const auto* cte : each<const CommonTableExpr>(defining->query->cteList)) {
    if (strcmp(cte->ctename, entry->ctename) != 0 || !IsA(cte->ctequery, Query)) continue;
    return make_scope(as<Query>(cte->ctequery), defining);
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

List* protected_rows_of_entry(const QueryScope* scope, int number) {
  const RangeTblEntry* entry = rt_fetch(number, scope->query->rtable);
  if (is_borrowed(scope->query, entry)) {
    return list_make1_oid(permissions_of(scope->query, entry)->relid);
  }
  const QueryScope* below = query_of(scope, entry);
  return below == nullptr || combines_rows(below->query) ? NIL : protected_rows_of(below);
}

List* protected_rows_of_part(const QueryScope* scope, const Node* part) {
  if (IsA(part, RangeTblRef)) {
    return protected_rows_of_entry(scope, as<RangeTblRef>(part)->rtindex);
  }
  if (!IsA(part, JoinExpr)) return NIL;
  const auto* join = as<JoinExpr>(part);
  List* left = protected_rows_of_part(scope, join->larg);
  List* right = protected_rows_of_part(scope, join->rarg);
  return join->jointype == JOIN_RIGHT ? list_concat_unique_oid(right, left)
                                      : list_concat_unique_oid(left, right);
}

bool shows(const QueryScope* scope, const Node* expression, const ColumnOrigin& searched) {
  const auto origin = origin_of(scope, expression);
  return origin && origin->relation == searched.relation && origin->column == searched.column;
}

Node* column_of_entry(int number, const Node* expression, AttrNumber column) {
  return as<Node>(makeVar(number, column, exprType(expression), exprTypmod(expression),
                          exprCollation(expression), 0));
}

// Null if the entry does not show the column.
Node* column_showing_in(const QueryScope* scope, int number, const ColumnOrigin& searched) {
  const RangeTblEntry* entry = rt_fetch(number, scope->query->rtable);
  const Oid shown =
      entry->rtekind == RTE_RELATION ? entry->relid : protected_view(scope->query, entry);
  if (shown == searched.relation) {
    Oid type;
    int32 modifier;
    Oid collation;
    get_atttypetypmodcoll(shown, searched.column, &type, &modifier, &collation);
    return as<Node>(makeVar(number, searched.column, type, modifier, collation, 0));
  }
  const QueryScope* below = query_of(scope, entry);
  if (below == nullptr || combines_rows(below->query)) return nullptr;
  for (const auto* column : each<const TargetEntry>(below->query->targetList)) {
    const auto* expression = as<Node>(column->expr);
    if (!column->resjunk && shows(below, expression, searched)) {
      return column_of_entry(number, expression, column->resno);
    }
  }
  return nullptr;
}

Node* column_showing_in_part(const QueryScope* scope, const Node* part,
                             const ColumnOrigin& searched) {
  if (IsA(part, RangeTblRef)) {
    return column_showing_in(scope, as<RangeTblRef>(part)->rtindex, searched);
  }
  if (!IsA(part, JoinExpr)) return nullptr;
  const auto* join = as<JoinExpr>(part);
  Node* left = column_showing_in_part(scope, join->larg, searched);
  return left != nullptr ? left : column_showing_in_part(scope, join->rarg, searched);
}

bool has_public_side_in(const QueryScope* scope, const Node* part) {
  if (IsA(part, RangeTblRef)) {
    const int number = as<RangeTblRef>(part)->rtindex;
    const RangeTblEntry* entry = rt_fetch(number, scope->query->rtable);
    const QueryScope* below = is_borrowed(scope->query, entry) ? nullptr : query_of(scope, entry);
    return below != nullptr && !combines_rows(below->query) && has_public_side(below);
  }
  if (!IsA(part, JoinExpr)) return false;
  const auto* join = as<JoinExpr>(part);
  if (has_public_side_in(scope, join->larg) || has_public_side_in(scope, join->rarg)) return true;
  if (join->jointype != JOIN_LEFT && join->jointype != JOIN_RIGHT) return false;
  const Node* kept = join->jointype == JOIN_LEFT ? join->larg : join->rarg;
  return protected_rows_of_part(scope, kept) == NIL;
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
  return ScopedExpression{below, as<Node>(target->expr)};
}

std::optional<ColumnOrigin> origin_of(const QueryScope* scope, const Node* expression) {
  if (expression == nullptr || !IsA(expression, Var)) return std::nullopt;
  const auto* column = as<Var>(expression);
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

List* protected_rows_of(const QueryScope* scope) {
  List* relations = NIL;
  for (const auto* node : each<const Node>(scope->query->jointree->fromlist)) {
    const List* part = protected_rows_of_part(scope, node);
    relations = list_concat_unique_oid(relations, part);
  }
  return relations;
}

bool has_public_side(const QueryScope* scope) {
  for (const auto* node : each<const Node>(scope->query->jointree->fromlist)) {
    if (has_public_side_in(scope, node)) return true;
  }
  return false;
}

bool is_protected_entry(const QueryScope* scope, int number) {
  return is_borrowed(scope->query, rt_fetch(number, scope->query->rtable));
}

const QueryScope* query_of_entry(const QueryScope* scope, int number) {
  return query_of(scope, rt_fetch(number, scope->query->rtable));
}

Node* column_showing(const QueryScope* scope, const ColumnOrigin& origin) {
  for (const auto* node : each<const Node>(scope->query->jointree->fromlist)) {
    Node* column = column_showing_in_part(scope, node, origin);
    if (column != nullptr) return column;
  }
  return nullptr;
}

}  // namespace dpquantile
