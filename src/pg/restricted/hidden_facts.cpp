#include "pg/restricted/hidden_facts.hpp"

#include "pg/restricted/denied_functions.hpp"
#include "pg/restricted/told_by_column.hpp"
#include "pg/server/permissions_of_entry.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/sysattr.h"
#include "access/table.h"
#include "nodes/makefuncs.h"
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

bool names_catalog_with_facts(const Query* query) {
  for (int number = 1; number <= list_length(query->rtable); ++number) {
    if (is_catalog_with_facts(query, number)) return true;
  }
  return false;
}

bool tells_facts(const Query* query) {
  const auto tells = [](Node* node) {
    return is_hidden_call(node) || (IsA(node, Query) && names_catalog_with_facts(as<Query>(node)));
  };
  return any_node(query, tells, kIntoQueries);
}

// Changes the queries themselves, the inner ones first: it does not look at those that it makes.
Node* without_facts(Node* node) {
  if (is_hidden_call(node)) {
    return as<Node>(makeNullConst(exprType(node), -1, exprCollation(node)));
  }
  const auto change = [](Node* child) { return without_facts(child); };
  Node* changed = with_children(node, change, kIntoQueries | QTW_DONT_COPY_QUERY);
  if (!IsA(node, Query)) return changed;
  auto* query = as<Query>(node);
  for (int number = 1; number <= list_length(query->rtable); ++number) {
    if (is_catalog_with_facts(query, number)) hide_columns(query, rt_fetch(number, query->rtable));
  }
  return node;
}

}  // namespace

bool hide_facts(Query* query) {
  if (!tells_facts(query)) return false;
  (void)without_facts(as<Node>(query));
  return true;
}

}  // namespace dpquantile
