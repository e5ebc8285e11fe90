#include "pg/distributed/open_relations.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "access/relation.h"
#include "nodes/nodeFuncs.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

// For query_tree_walker() and expression_tree_walker(). `relations` is a List**.
bool open_below(Node* node, void* relations) {
  if (node == nullptr) return false;
  if (IsA(node, RangeTblEntry)) {
    const auto* entry = as<RangeTblEntry>(node);
    if (entry->rtekind != RTE_RELATION) return false;
    auto** opened = static_cast<List**>(relations);
    *opened = lappend(*opened, relation_open(entry->relid, NoLock));
    return false;
  }
  if (IsA(node, Query)) {
    return query_tree_walker(as<Query>(node), DPQ_TREE_WALKER(open_below), relations,
                             QTW_EXAMINE_RTES_BEFORE);
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(open_below), relations);
}

}  // namespace

List* open_relations(const Query* query) {
  List* relations = NIL;
  (void)open_below(as<Node>(const_cast<Query*>(query)), &relations);
  return relations;
}

void close_relations(List* relations) {
  const ListCell* cell;
  foreach (cell, relations) relation_close(static_cast<Relation>(lfirst(cell)), NoLock);
  list_free(relations);
}

}  // namespace dpquantile
