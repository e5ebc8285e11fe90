#include "pg/plain/subquery_values.hpp"

#include "pg/server/nodes.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
}

namespace dpquantile {

namespace {

bool has_only_one_row(const Query* query) {
  const bool reads_rows = query->jointree->fromlist != NIL || query->setOperations != nullptr ||
                          query->cteList != NIL || query->hasTargetSRFs;
  const bool has_clause = query->jointree->quals != nullptr || query->groupClause != NIL ||
                          query->groupingSets != NIL || query->havingQual != nullptr ||
                          query->limitCount != nullptr || query->limitOffset != nullptr;
  return query->commandType == CMD_SELECT && !reads_rows && !has_clause && !query->hasAggs &&
         !query->hasWindowFuncs;
}

// The value of a subquery, for the level around it; null if it is no such subquery.
Node* value_of(const Node* node) {
  if (!IsA(node, SubLink) || as<SubLink>(node)->subLinkType != EXPR_SUBLINK) return nullptr;
  const auto* query = as<Query>(as<SubLink>(node)->subselect);
  if (!has_only_one_row(query) || list_length(query->targetList) != 1) return nullptr;
  auto* value = as<Node>(static_cast<const TargetEntry*>(linitial(query->targetList))->expr);
  if (contain_volatile_functions(value)) return nullptr;
  auto* copy = static_cast<Node*>(copyObjectImpl(value));
  IncrementVarSublevelsUp(copy, -1, 1);
  return copy;
}

bool has_subqueries(const Query* level) {
  return search(
      level, [](const Node* node) { return IsA(node, SubLink) ? Look::kFound : Look::kBelow; },
      kIntoQueries | QTW_IGNORE_RC_SUBQUERIES);
}

}  // namespace

bool put_values_of_subqueries(Query* query) {
  if (!query->hasSubLinks) return false;
  bool changes = false;
  const auto replacement = [&](const Node* node) {
    Node* value = value_of(node);
    changes |= value != nullptr;
    return value;
  };
  query->targetList = mapped(query->targetList, replacement);
  query->jointree = mapped(query->jointree, replacement);
  query->havingQual = mapped(query->havingQual, replacement);
  for (auto* entry : each<RangeTblEntry>(query->rtable)) {
    entry->functions = mapped(entry->functions, replacement);
    entry->values_lists = mapped(entry->values_lists, replacement);
  }
  if (changes) query->hasSubLinks = has_subqueries(query);
  return changes;
}

}  // namespace dpquantile
