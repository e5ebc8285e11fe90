#include "pg/restricted/hidden_facts.hpp"

#include "pg/restricted/denied_functions.hpp"
#include "pg/restricted/told_by_column.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/permissions_of_entry.hpp"

extern "C" {
#include "access/sysattr.h"
#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

// ---- Functions ----

// Rows, groups and effects of the query may depend on such arguments.
bool must_be_evaluated(Node* arguments) {
  return expression_returns_set(arguments) || contain_aggs_of_level(arguments, 0) ||
         contain_windowfuncs(arguments) || checkExprHasSubLink(arguments) ||
         contain_volatile_functions(arguments);
}

bool is_hidden_call(const Node* node) {
  if (!IsA(node, FuncExpr)) return false;
  const auto* call = as<FuncExpr>(node);
  return counts_data(call->funcid) && !must_be_evaluated(as<Node>(call->args));
}

// ---- Columns of catalogs ----

bool has_row_mark(const Query* query, int entry) {
  for (const auto* item : each<const RowMarkClause>(query->rowMarks)) {
    if (item->rti == static_cast<Index>(entry)) {
      return true;
    }
  }
  return false;
}

bool reads_system_columns(const Bitmapset* columns) {
  return bms_next_member(columns, -1) >= 0 &&
         bms_next_member(columns, -1) < InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber;
}

// A subquery has neither system columns nor rows that can be locked, changed or sampled.
bool is_catalog_with_facts(const Query* query, int number) {
  const RangeTblEntry* entry = rt_fetch(number, query->rtable);
  if (entry->rtekind != RTE_RELATION) return false;
  if (number == query->resultRelation || has_row_mark(query, number)) return false;
  if (entry->tablesample != nullptr || entry->securityQuals != NIL) return false;
  const RelationPermissions* permissions = permissions_of_relation(query, entry);
  return permissions->requiredPerms == ACL_SELECT &&
         reads_facts(entry->relid, permissions->selectedCols) &&
         !reads_system_columns(permissions->selectedCols);
}

// The whole row is read as all columns that are not hidden.
void forget_facts(RelationPermissions* permissions, Oid catalog, const TupleDesc columns) {
  const auto position = [](AttrNumber column) {
    return column - FirstLowInvalidHeapAttributeNumber;
  };
  const bool reads_row = bms_is_member(position(InvalidAttrNumber), permissions->selectedCols);
  permissions->selectedCols =
      bms_del_member(permissions->selectedCols, position(InvalidAttrNumber));
  for (AttrNumber column = 1; column <= columns->natts; ++column) {
    if (tells_of_rows(catalog, column)) {
      permissions->selectedCols = bms_del_member(permissions->selectedCols, position(column));
    } else if (reads_row) {
      permissions->selectedCols = bms_add_member(permissions->selectedCols, position(column));
    }
  }
}

Expr* column_or_constant(Oid catalog, const FormData_pg_attribute* column) {
  if (tells_of_rows(catalog, column->attnum)) {
    return as<Expr>(constant_for(catalog, column->attnum));
  }
  return as<Expr>(
      makeVar(1, column->attnum, column->atttypid, column->atttypmod, column->attcollation, 0));
}

// SELECT oid, relname, …, 0 AS relpages, -1 AS reltuples, … FROM pg_class
Query* query_without_facts(Oid catalog, const TupleDesc columns) {
  Query* query = makeNode(Query);
  query->commandType = CMD_SELECT;
  query->canSetTag = true;
  RangeTblRef* from = makeNode(RangeTblRef);
  from->rtindex = 1;
  query->jointree = makeFromExpr(list_make1(from), nullptr);
  for (int i = 0; i < columns->natts; ++i) {
    const FormData_pg_attribute* column = TupleDescAttr(columns, i);
    query->targetList = lappend(query->targetList,
                                makeTargetEntry(column_or_constant(catalog, column), column->attnum,
                                                pstrdup(NameStr(column->attname)), false));
  }
  return query;
}

void hide_columns(Query* query, RangeTblEntry* entry) {
  const Oid catalog = entry->relid;
  Relation relation = table_open(catalog, AccessShareLock);
  const TupleDesc columns = RelationGetDescr(relation);
  forget_facts(permissions_of_relation(query, entry), catalog, columns);
  move_into_subquery(query, entry, query_without_facts(catalog, columns));
  table_close(relation, NoLock);
}

// ---- Walks ----

bool tells_facts(Node* node, void* context) {
  if (node == nullptr) return false;
  if (is_hidden_call(node)) return true;
  if (!IsA(node, Query)) return expression_tree_walker(node, DPQ_TREE_WALKER(tells_facts), context);
  auto* query = as<Query>(node);
  for (int number = 1; number <= list_length(query->rtable); ++number) {
    if (is_catalog_with_facts(query, number)) return true;
  }
  return query_tree_walker(query, DPQ_TREE_WALKER(tells_facts), context, 0);
}

Node* without_facts(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (is_hidden_call(node)) {
    return as<Node>(makeNullConst(exprType(node), -1, exprCollation(node)));
  }
  if (!IsA(node, Query)) {
    return expression_tree_mutator(node, DPQ_TREE_MUTATOR(without_facts), context);
  }
  auto* query = as<Query>(node);
  query_tree_mutator(query, DPQ_TREE_MUTATOR(without_facts), context, QTW_DONT_COPY_QUERY);
  for (int number = 1; number <= list_length(query->rtable); ++number) {
    if (is_catalog_with_facts(query, number)) hide_columns(query, rt_fetch(number, query->rtable));
  }
  return node;
}

}  // namespace

bool hide_facts(Query* query) {
  auto* node = as<Node>(query);
  if (!tells_facts(node, nullptr)) return false;
  without_facts(node, nullptr);
  return true;
}

}  // namespace dpquantile
