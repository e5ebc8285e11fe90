#include "pg/restricted/hidden_facts.hpp"

#include "pg/restricted/denied_functions.hpp"
#include "pg/restricted/told_by_column.hpp"
#include "pg/server/permissions_of_entry.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/heap.h"
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

// System columns have the numbers from this one to -1.
constexpr AttrNumber kLastSystemColumn = FirstLowInvalidHeapAttributeNumber + 1;

// A subquery has no rows that can be locked, changed or sampled.
bool is_catalog_with_facts(const Query* query, int number) {
  const RangeTblEntry* entry = rt_fetch(number, query->rtable);
  if (entry->rtekind != RTE_RELATION) return false;
  if (number == query->resultRelation || has_row_mark(query, number)) return false;
  if (entry->tablesample != nullptr || entry->securityQuals != NIL) return false;
  const RelationPermissions* permissions = permissions_of_relation(query, entry);
  return permissions->requiredPerms == ACL_SELECT &&
         reads_facts(entry->relid, permissions->selectedCols);
}

// The whole row is read as all columns that are not hidden.
void forget_facts(RelationPermissions* permissions, Oid catalog, const TupleDesc columns) {
  const auto position = [](AttrNumber column) {
    return column - FirstLowInvalidHeapAttributeNumber;
  };
  const bool reads_row = bms_is_member(position(InvalidAttrNumber), permissions->selectedCols);
  permissions->selectedCols =
      bms_del_member(permissions->selectedCols, position(InvalidAttrNumber));
  for (AttrNumber column = kLastSystemColumn; column <= columns->natts; ++column) {
    if (tells_of_rows(catalog, column)) {
      permissions->selectedCols = bms_del_member(permissions->selectedCols, position(column));
    } else if (reads_row && column > 0) {
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

// Where a system column is in the subquery.
AttrNumber position_of(AttrNumber system_column, int columns) {
  return static_cast<AttrNumber>(columns - system_column);
}

TargetEntry* shown(Oid catalog, const FormData_pg_attribute* column, AttrNumber position) {
  return makeTargetEntry(column_or_constant(catalog, column), position,
                         pstrdup(NameStr(column->attname)), false);
}

// SELECT oid, relname, …, 0 AS relpages, -1 AS reltuples, … FROM pg_class. The system columns
// follow the others. The whole row lacks them: it ends with the columns that the entry names, as
// that of a view to which columns were added later (expandRTE()).
Query* query_without_facts(Oid catalog, const TupleDesc columns) {
  Query* query = makeNode(Query);
  query->commandType = CMD_SELECT;
  query->canSetTag = true;
  RangeTblRef* from = makeNode(RangeTblRef);
  from->rtindex = 1;
  query->jointree = makeFromExpr(list_make1(from), nullptr);
  for (AttrNumber column = 1; column <= columns->natts; ++column) {
    query->targetList =
        lappend(query->targetList, shown(catalog, TupleDescAttr(columns, column - 1), column));
  }
  for (AttrNumber column = -1; column >= kLastSystemColumn; --column) {
    query->targetList = lappend(query->targetList, shown(catalog, SystemAttributeDefinition(column),
                                                         position_of(column, columns->natts)));
  }
  return query;
}

// Variables of the entry's system columns become those of the subquery. levels: how many queries
// are between the node and the query that has the entry.
void read_system_columns(Node* node, int entry, int columns, int levels) {
  if (IsA(node, Var)) {
    auto* variable = as<Var>(node);
    const bool is_of_entry =
        variable->varno == entry && static_cast<int>(variable->varlevelsup) == levels;
    if (is_of_entry && variable->varattno < 0)
      variable->varattno = position_of(variable->varattno, columns);
    return;
  }
  const int below = IsA(node, Query) ? levels + 1 : levels;
  const auto read = [=](Node* child) {
    read_system_columns(child, entry, columns, below);
    return false;
  };
  (void)any_child(node, read, kIntoQueries);
}

void hide_columns(Query* query, int number) {
  RangeTblEntry* entry = rt_fetch(number, query->rtable);
  const Oid catalog = entry->relid;
  Relation relation = table_open(catalog, AccessShareLock);
  const TupleDesc columns = RelationGetDescr(relation);
  forget_facts(permissions_of_relation(query, entry), catalog, columns);
  read_system_columns(as<Node>(query), number, columns->natts, -1);
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
    if (is_catalog_with_facts(query, number)) hide_columns(query, number);
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
