#include "pg/restricted/system_columns.hpp"

#include "pg/restricted/restricted_session.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// REFRESH MATERIALIZED VIEW CONCURRENTLY compares the places of rows in the view and in a temporary
// table. No query joins either with protected rows that somebody else may not read.
bool shows_places(Oid relation) {
  return get_rel_relkind(relation) == RELKIND_MATVIEW ||
         get_rel_persistence(relation) == RELPERSISTENCE_TEMP;
}

void refuse_column(Oid relation, AttrNumber column) {
  const char* name = told_by_system_column(relation, column);
  if (name != nullptr) refuse_system_column(relation, name);
}

// queries: those around the variable, the innermost first.
void refuse_variable(const Var* variable, const List* queries) {
  const bool is_system_column = variable->varattno < 0 && !IS_SPECIAL_VARNO(variable->varno) &&
                                static_cast<int>(variable->varlevelsup) < list_length(queries);
  if (!is_system_column) return;
  const auto* query =
      static_cast<const Query*>(list_nth(queries, static_cast<int>(variable->varlevelsup)));
  const RangeTblEntry* entry = rt_fetch(variable->varno, query->rtable);
  if (entry->rtekind == RTE_RELATION) refuse_column(entry->relid, variable->varattno);
}

void refuse_in_tree(Node* node, List* queries) {
  if (IsA(node, Var)) return refuse_variable(as<Var>(node), queries);
  List* around = IsA(node, Query) ? lcons(node, list_copy(queries)) : queries;
  const auto refuse = [&](Node* child) {
    refuse_in_tree(child, around);
    return false;
  };
  (void)any_child(node, refuse, kIntoQueries);
  if (around != queries) list_free(around);
}

}  // namespace

const char* told_by_system_column(Oid relation, AttrNumber column) {
  if (relation < FirstNormalObjectId) return nullptr;
  switch (column) {
    case MaxTransactionIdAttributeNumber:
      return "xmax";
    case MinTransactionIdAttributeNumber:
      return "xmin";
    case MaxCommandIdAttributeNumber:
      return "cmax";
    case MinCommandIdAttributeNumber:
      return "cmin";
    case SelfItemPointerAttributeNumber:
      return shows_places(relation) ? nullptr : "ctid";
    default:
      return nullptr;
  }
}

void refuse_system_column(Oid relation, const char* column) {
  ereport(
      ERROR,
      (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
       errmsg("permission denied for column %s of table %s", column, get_rel_name(relation)),
       errdetail_restricted("the transactions that have written or locked a row, and its place"),
       errhint("Leave out the system columns. Only tableoid may be read.")));
}

void refuse_system_columns(Query* query) {
  refuse_in_tree(as<Node>(query), NIL);
}

void refuse_system_columns_of_policies(const Query* query, const RangeTblEntry* entry) {
  if (entry->securityQuals == NIL) return;
  List* queries = list_make1(const_cast<Query*>(query));
  refuse_in_tree(as<Node>(entry->securityQuals), queries);
  list_free(queries);
}

void refuse_system_columns_of_trigger(Oid relation, Node* condition) {
  // All variables of the condition are columns of OLD and NEW.
  visit_nodes(condition, [&](const Node* node) {
    if (IsA(node, Var)) refuse_column(relation, as<Var>(node)->varattno);
  });
}

}  // namespace dpquantile
