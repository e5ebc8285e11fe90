#include "pg/grants/view_query.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/relation_permissions.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "parser/parsetree.h"
}

namespace dpquantile {

namespace {

bool combines_or_compares_rows(const Query* query) {
  return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
         query->havingQual != nullptr || query->distinctClause != NIL || query->hasWindowFuncs ||
         query->setOperations != nullptr || query->cteList != NIL;
}

bool names_protected_relation(Query* query) {
  for (const auto* permissions : each<const RelationPermissions>(all_permissions(query))) {
    const bool is_relation = OidIsValid(permissions->relid);
    if (is_relation && find_protected_relation(permissions->relid) != nullptr) return true;
  }
  return false;
}

// Subqueries in expressions are of public tables, or about the person of a row.
bool has_protected_subquery(const Query* query) {
  const auto is_protected = [](Node* node) {
    return IsA(node, Query) && names_protected_relation(as<Query>(node));
  };
  return any_node(
      query,
      [=](Node* node) {
        return IsA(node, Query) && node != as<Node>(const_cast<Query*>(query)) &&
               any_node(node, is_protected, kIntoQueries);
      },
      kIntoQueries | QTW_IGNORE_RT_SUBQUERIES);
}

}  // namespace

bool shows_one_table(const Query* view) {
  check_stack_depth();
  const List* from = view->jointree == nullptr ? NIL : view->jointree->fromlist;
  if (list_length(from) != 1 || !IsA(linitial(from), RangeTblRef)) return false;
  if (combines_or_compares_rows(view) || has_protected_subquery(view)) return false;
  const auto* entry =
      rt_fetch(static_cast<const RangeTblRef*>(linitial(from))->rtindex, view->rtable);
  if (entry->rtekind == RTE_SUBQUERY) return shows_one_table(entry->subquery);
  return entry->rtekind == RTE_RELATION;
}

namespace {

// `all`: whether tables count that are not protected by themselves.
void add_relations(Query* query, bool all, List** relations) {
  check_stack_depth();
  for (auto* entry : each<RangeTblEntry>(query->rtable)) {
    const RelationPermissions* permissions = permissions_of(query, entry);
    const Oid relation = permissions == nullptr ? InvalidOid : permissions->relid;
    const bool is_protected = OidIsValid(relation) && find_protected_relation(relation) != nullptr;
    const bool is_table = entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW;
    if (OidIsValid(relation) && (all || is_protected || !is_table)) {
      *relations = list_append_unique_oid(*relations, relation);
    }
    if (entry->rtekind != RTE_SUBQUERY) continue;
    add_relations(entry->subquery, is_protected ? shows_one_table(entry->subquery) : all,
                  relations);
  }
  // Subqueries of public tables are joined with the rows, as in a view that joins.
  const auto add_those_in_expressions = [=](Node* node) {
    if (!IsA(node, Query) || node == as<Node>(query)) return Look::kBelow;
    add_relations(as<Query>(node), false, relations);
    return Look::kPast;
  };
  (void)search(query, add_those_in_expressions, kIntoQueries | QTW_IGNORE_RT_SUBQUERIES);
}

}  // namespace

List* relations_in_view(Query* view) {
  List* relations = NIL;
  add_relations(view, shows_one_table(view), &relations);
  return relations;
}

}  // namespace dpquantile
