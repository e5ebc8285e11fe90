#include "pg/protect/outer_query.hpp"

#include "pg/server/nodes.hpp"

namespace dpquantile {

namespace {

Node* node_of(void* part) {
  return static_cast<Node*>(part);
}

// The expressions of an entry of FROM.
List* expressions_of(const RangeTblEntry* entry) {
  switch (entry->rtekind) {
    case RTE_FUNCTION:
      return entry->functions;
    case RTE_VALUES:
      return entry->values_lists;
    case RTE_JOIN:
      return entry->joinaliasvars;
    case RTE_TABLEFUNC:
      return list_make1(entry->tablefunc);
    case RTE_RELATION:
      return entry->tablesample == nullptr ? NIL : list_make1(entry->tablesample);
    default:
      return NIL;
  }
}

void check_part(JudgedLevel* level, Node* part) {
  attempt(level, [&] { check_outside(level, part, level->statement->check_subquery); });
}

// The keys of a set operation. expression_tree_walker() leaves them out.
void check_set_operation(JudgedLevel* level, Node* node) {
  if (node == nullptr || !IsA(node, SetOperationStmt)) return;
  const auto* operation = as<SetOperationStmt>(node);
  check_part(level, node_of(operation->groupClauses));
  check_set_operation(level, operation->larg);
  check_set_operation(level, operation->rarg);
}

void check_entries(JudgedLevel* level) {
  for (const auto* entry : each<const RangeTblEntry>(level->query->rtable)) {
    check_part(level, node_of(expressions_of(entry)));
    check_part(level, node_of(entry->securityQuals));
  }
}

}  // namespace

void check_outer_query(JudgedLevel* level) {
  const Query* query = level->query;
  if (query->rowMarks != NIL) {
    refuse(level->statement->refused, kNowhere, "queries over protected tables cannot lock rows",
           "Leave out FOR UPDATE.");
  }
  Node* const parts[] = {
      node_of(query->targetList),
      node_of(query->jointree),
      query->havingQual,
      query->limitCount,
      query->limitOffset,
      node_of(query->groupClause),
      node_of(query->distinctClause),
      node_of(query->sortClause),
      node_of(query->windowClause),
  };
  for (Node* part : parts) check_part(level, part);
  check_set_operation(level, query->setOperations);
  check_entries(level);
}

}  // namespace dpquantile
