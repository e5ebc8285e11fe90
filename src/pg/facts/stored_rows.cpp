#include "pg/facts/stored_rows.hpp"

#include "pg/query/level.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "rewrite/prs2lock.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

// The query of a view or materialized view; null for other relations.
Query* query_of_view(Oid relation) {
  const char kind = get_rel_relkind(relation);
  if (kind != RELKIND_VIEW && kind != RELKIND_MATVIEW) return nullptr;
  Relation view = relation_open(relation, AccessShareLock);
  Query* query = nullptr;
  for (int i = 0; view->rd_rules != nullptr && i < view->rd_rules->numLocks; ++i) {
    const RewriteRule* rule = view->rd_rules->rules[i];
    if (rule->event != CMD_SELECT) continue;
    query = static_cast<Query*>(copyObjectImpl(linitial(rule->actions)));
  }
  relation_close(view, AccessShareLock);
  return query;
}

void add_relations(Oid relation, List** all) {
  check_stack_depth();
  if (list_member_oid(*all, relation)) return;
  *all = lappend_oid(*all, relation);
  Query* query = query_of_view(relation);
  if (query == nullptr) return;
  for (const Oid read : each_oid(read_statement(query, NIL)->top->relations)) {
    add_relations(read, all);
  }
}

void add_columns_of_query(const Query* query, AttrNumber number, List** all);

void add_columns(Oid relation, AttrNumber number, List** all) {
  check_stack_depth();
  auto* column = static_cast<StoredColumn*>(palloc(sizeof(StoredColumn)));
  *column = {relation, number};
  *all = lappend(*all, column);
  const Query* query = query_of_view(relation);
  if (query != nullptr) add_columns_of_query(query, number, all);
}

void add_columns_of(const Query* query, const Node* shown, List** all) {
  check_stack_depth();
  while (IsA(shown, RelabelType)) {
    shown = as<Node>(as<RelabelType>(shown)->arg);
  }
  if (!IsA(shown, Var)) return;
  const auto* column = as<Var>(shown);
  if (column->varlevelsup != 0 || column->varattno <= 0) return;
  const auto* entry = static_cast<const RangeTblEntry*>(list_nth(query->rtable, column->varno - 1));
  const List* keys = DPQ_GROUP_KEYS(entry);
  const List* others = keys != NIL ? keys : entry->joinaliasvars;
  if (entry->rtekind == RTE_RELATION) {
    add_columns(entry->relid, column->varattno, all);
  } else if (entry->rtekind == RTE_SUBQUERY) {
    add_columns_of_query(entry->subquery, column->varattno, all);
  } else if (others != NIL && column->varattno <= list_length(others)) {
    add_columns_of(query, static_cast<const Node*>(list_nth(others, column->varattno - 1)), all);
  }
}

void add_columns_of_query(const Query* query, AttrNumber number, List** all) {
  if (query->setOperations != nullptr || number > list_length(query->targetList)) return;
  const auto* column = static_cast<const TargetEntry*>(list_nth(query->targetList, number - 1));
  add_columns_of(query, as<Node>(column->expr), all);
}

}  // namespace

List* relations_stored_in(Oid view) {
  List* all = NIL;
  add_relations(view, &all);
  return all;
}

List* columns_stored_in(Oid view, AttrNumber number) {
  List* all = NIL;
  add_columns(view, number, &all);
  return all;
}

}  // namespace dpquantile
