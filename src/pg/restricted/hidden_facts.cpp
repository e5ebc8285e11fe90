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

// The whole row is read as all columns that are not hidden, and all rows as those of the condition.
void forget_facts(RelationPermissions* permissions, Oid catalog, const TupleDesc columns) {
  const auto position = [](AttrNumber column) {
    return column - FirstLowInvalidHeapAttributeNumber;
  };
  if (condition_on_rows(catalog) != nullptr) {
    permissions->selectedCols = bms_add_member(permissions->selectedCols, kHasCondition);
  }
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
// follow the others.
Query* query_without_facts(Oid catalog, const TupleDesc columns) {
  Query* query = makeNode(Query);
  query->commandType = CMD_SELECT;
  query->canSetTag = true;
  RangeTblRef* from = makeNode(RangeTblRef);
  from->rtindex = 1;
  query->jointree = makeFromExpr(list_make1(from), condition_on_rows(catalog));
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

// An entry that becomes a subquery.
struct HiddenEntry {
  int number;
  TupleDesc columns;
};

Var* column_beside(const Var* row, const TupleDesc columns, AttrNumber number) {
  const FormData_pg_attribute* column = TupleDescAttr(columns, number - 1);
  auto* variable = static_cast<Var*>(copyObjectImpl(row));
  variable->varattno = number;
  variable->vartype = column->atttypid;
  variable->vartypmod = column->atttypmod;
  variable->varcollid = column->attcollation;
  return variable;
}

// CASE WHEN oid IS NOT NULL THEN ROW(oid, relname, …)::pg_class END: the whole row of the catalog,
// without the system columns of the subquery. The first column of a catalog is never NULL, so it
// tells where an outer join has no row.
Node* whole_row(const Var* row, const TupleDesc columns) {
  RowExpr* all = makeNode(RowExpr);
  for (AttrNumber column = 1; column <= columns->natts; ++column) {
    all->args = lappend(all->args, column_beside(row, columns, column));
  }
  all->row_typeid = row->vartype;
  all->row_format = COERCE_IMPLICIT_CAST;
  all->location = -1;
  NullTest* test = makeNode(NullTest);
  test->arg = as<Expr>(column_beside(row, columns, 1));
  test->nulltesttype = IS_NOT_NULL;
  test->location = -1;
  CaseWhen* when = makeNode(CaseWhen);
  when->expr = as<Expr>(test);
  when->result = as<Expr>(all);
  when->location = -1;
  CaseExpr* choice = makeNode(CaseExpr);
  choice->casetype = row->vartype;
  choice->args = list_make1(when);
  choice->defresult = as<Expr>(makeNullConst(row->vartype, -1, InvalidOid));
  choice->location = -1;
  return as<Node>(choice);
}

// Variables of the entry's system columns and of its whole row become those of the subquery.
// levels: how many queries are between the node and the query that has the entry.
Node* reading_subquery(Node* node, const HiddenEntry& hidden, int levels) {
  if (IsA(node, Var)) {
    auto* variable = as<Var>(node);
    const bool is_of_entry = static_cast<int>(variable->varno) == hidden.number &&
                             static_cast<int>(variable->varlevelsup) == levels;
    if (!is_of_entry || variable->varattno > 0) return node;
    if (variable->varattno == 0) return whole_row(variable, hidden.columns);
    variable->varattno = position_of(variable->varattno, hidden.columns->natts);
    return node;
  }
  const int below = IsA(node, Query) ? levels + 1 : levels;
  const auto read = [&](Node* child) { return reading_subquery(child, hidden, below); };
  return with_children(node, read, kIntoQueries | QTW_DONT_COPY_QUERY);
}

// All columns of the subquery have names.
void name_system_columns(Alias* names) {
  for (AttrNumber column = -1; column >= kLastSystemColumn; --column) {
    const char* name = NameStr(SystemAttributeDefinition(column)->attname);
    names->colnames = lappend(names->colnames, makeString(pstrdup(name)));
  }
}

void hide_columns(Query* query, int number) {
  const Oid catalog = rt_fetch(number, query->rtable)->relid;
  Relation relation = table_open(catalog, AccessShareLock);
  const TupleDesc columns = RelationGetDescr(relation);
  (void)reading_subquery(as<Node>(query), {number, columns}, -1);
  RangeTblEntry* entry = rt_fetch(number, query->rtable);  // a copy of what it was
  forget_facts(permissions_of_relation(query, entry), catalog, columns);
  move_into_subquery(query, entry, query_without_facts(catalog, columns));
  // Else a cheap function of one's own is evaluated before the condition, and a selectivity
  // function gets statistics of hidden rows.
  entry->security_barrier = condition_on_rows(catalog) != nullptr;
  name_system_columns(entry->eref);
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
