#include "pg/plain/set_operations.hpp"

#include "pg/plain/query_around.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
}

namespace dpquantile {

namespace {

// ---- Queries ---------------------------------------------------------------------------------

RangeTblRef* reference_to(int number) {
  RangeTblRef* reference = makeNode(RangeTblRef);
  reference->rtindex = number;
  return reference;
}

Query* new_query() {
  Query* made = makeNode(Query);
  made->commandType = CMD_SELECT;
  made->canSetTag = true;
  made->jointree = makeFromExpr(NIL, nullptr);
  return made;
}

// Columns that show those of another query, as the first entry of a range table.
List* columns_of(const Query* query) {
  List* columns = NIL;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->resjunk) continue;
    columns = lappend(columns, makeTargetEntry(as<Expr>(column_of_table(column)), column->resno,
                                               pstrdup(column->resname), false));
  }
  return columns;
}

// The columns get the types of those of a set operation.
void set_types(List* columns, const SetOperationStmt* operation) {
  for (int i = 0; i < list_length(operation->colTypes); ++i) {
    auto* shown = as<Var>(static_cast<TargetEntry*>(list_nth(columns, i))->expr);
    shown->vartype = list_nth_oid(operation->colTypes, i);
    shown->vartypmod = list_nth_int(operation->colTypmods, i);
    shown->varcollid = list_nth_oid(operation->colCollations, i);
  }
}

Node* union_of(Node* left, int right, const List* columns) {
  SetOperationStmt* both = makeNode(SetOperationStmt);
  both->op = SETOP_UNION;
  both->all = true;
  both->larg = left;
  both->rarg = as<Node>(reference_to(right));
  for (auto* entry : each<TargetEntry>(columns)) {
    auto* expression = as<Node>(entry->expr);
    both->colTypes = lappend_oid(both->colTypes, exprType(expression));
    both->colTypmods = lappend_int(both->colTypmods, exprTypmod(expression));
    both->colCollations = lappend_oid(both->colCollations, exprCollation(expression));
  }
  return as<Node>(both);
}

// ---- Parts of a set operation ------------------------------------------------------------------

// Makes person groups of the set operations of a query.
void group_operations(Query* query);

RangeTblEntry* entry_of_part(const Query* query, const Node* part) {
  return rt_fetch(as<RangeTblRef>(part)->rtindex, query->rtable);
}

// Moves a set operation and its queries to another query, so many levels below.
Node* moved_part(const Query* query, Node* part, int depth, Query* to) {
  check_stack_depth();
  if (IsA(part, RangeTblRef)) {
    RangeTblEntry* entry = entry_of_part(query, part);
    IncrementVarSublevelsUp(as<Node>(entry->subquery), depth, 1);
    to->rtable = lappend(to->rtable, entry);
    return as<Node>(reference_to(list_length(to->rtable)));
  }
  auto* operation = as<SetOperationStmt>(part);
  operation->larg = moved_part(query, operation->larg, depth, to);
  operation->rarg = moved_part(query, operation->rarg, depth, to);
  return part;
}

// The first query of a set operation. The columns of the operation are read from it.
Node* first_query_of(Node* part) {
  while (IsA(part, SetOperationStmt)) part = as<SetOperationStmt>(part)->larg;
  return part;
}

// As the parser makes them.
List* columns_of_operation(const Query* query, SetOperationStmt* operation) {
  List* columns = columns_of(entry_of_part(query, first_query_of(as<Node>(operation)))->subquery);
  set_types(columns, operation);
  return columns;
}

// A part of a set operation as a query so many levels below that of the operation. The queries that
// it combines were one level below.
Query* query_of(const Query* query, Node* part, int depth) {
  if (IsA(part, RangeTblRef)) {
    Query* moved = entry_of_part(query, part)->subquery;
    IncrementVarSublevelsUp(as<Node>(moved), depth - 1, 1);
    return moved;
  }
  Query* made = new_query();
  made->setOperations = moved_part(query, part, depth, made);
  made->targetList = columns_of_operation(made, as<SetOperationStmt>(part));
  group_operations(made);
  return made;
}

// The queries of UNIONs, one in the other, which are those of one UNION ALL.
void add_united(const Query* query, Node* part, List** queries) {
  if (IsA(part, SetOperationStmt) && as<SetOperationStmt>(part)->op == SETOP_UNION) {
    add_united(query, as<SetOperationStmt>(part)->larg, queries);
    add_united(query, as<SetOperationStmt>(part)->rarg, queries);
    return;
  }
  *queries = lappend(*queries, query_of(query, part, 3));
}

// A part with one more column, which tells whether it is the first one.
Query* with_side(Query* part, bool is_first) {
  Query* made = new_query();
  made->targetList = columns_of(part);
  const auto number = static_cast<AttrNumber>(list_length(made->targetList) + 1);
  made->targetList = lappend(
      made->targetList,
      makeTargetEntry(as<Expr>(makeBoolConst(is_first, false)), number, pstrdup("first"), false));
  select_from(made, part);
  return made;
}

// ---- The group -------------------------------------------------------------------------------

Node* aggregate_of_side(Oid function, const Query* both) {
  const auto* side = static_cast<const TargetEntry*>(llast(both->targetList));
  return aggregate_of_condition(function, as<Node>(column_of_table(side)));
}

// Groups the rows of another query by all columns of a set operation.
Query* groups_of(const List* columns, const SetOperationStmt* operation, Query* rows) {
  Query* groups = new_query();
  groups->targetList = static_cast<List*>(copyObjectImpl(columns));
  select_from(groups, rows);
  ListCell* cell;
  foreach (cell, operation->groupClauses) {
    auto* key = static_cast<SortGroupClause*>(copyObjectImpl(lfirst(cell)));
    const int number = foreach_current_index(cell);
    key->tleSortGroupRef = static_cast<Index>(number + 1);
    static_cast<TargetEntry*>(list_nth(groups->targetList, number))->ressortgroupref =
        key->tleSortGroupRef;
    groups->groupClause = lappend(groups->groupClause, key);
  }
  return groups;
}

// Adds a column with an aggregate to groups. Returns it, as a column of a table.
Var* add_aggregate(Query* groups, Node* call, const char* name) {
  const auto number = static_cast<AttrNumber>(list_length(groups->targetList) + 1);
  TargetEntry* column = makeTargetEntry(as<Expr>(call), number, pstrdup(name), false);
  groups->targetList = lappend(groups->targetList, column);
  groups->hasAggs = true;
  return column_of_table(column);
}

// Groups with rows of the first part, and with rows of the second part, too, or without.
Node* condition_on_sides(SetOperation operation, const Query* both, Query* groups) {
  Node* all_first =
      as<Node>(add_aggregate(groups, aggregate_of_side(F_BOOL_AND, both), "all first"));
  if (operation == SETOP_EXCEPT) return all_first;
  Node* any_first =
      as<Node>(add_aggregate(groups, aggregate_of_side(F_BOOL_OR, both), "any first"));
  Node* any_second = as<Node>(makeBoolExpr(NOT_EXPR, list_make1(all_first), -1));
  return as<Node>(makeBoolExpr(AND_EXPR, list_make2(any_first, any_second), -1));
}

void select_columns_from(Query* query, List* columns, Query* table) {
  query->setOperations = nullptr;
  query->targetList = columns;
  select_from(query, table);
}

void group_union(Query* query, SetOperationStmt* operation) {
  List* columns = columns_of_operation(query, operation);
  List* queries = NIL;
  add_united(query, as<Node>(operation), &queries);
  Query* groups = groups_of(columns, operation, union_all_of(queries, operation));
  select_columns_from(query, columns, groups);
}

void group_sides(Query* query, SetOperationStmt* operation) {
  List* columns = columns_of_operation(query, operation);
  Query* first = with_side(query_of(query, operation->larg, 4), true);
  Query* second = with_side(query_of(query, operation->rarg, 4), false);
  Query* both = union_all_of(list_make2(first, second), operation);
  Query* groups = groups_of(columns, operation, both);
  Node* condition = condition_on_sides(operation->op, both, groups);
  select_columns_from(query, columns, groups);
  query->jointree->quals = condition;
}

bool is_union_all(const Node* part) {
  if (!IsA(part, SetOperationStmt)) return false;
  return as<SetOperationStmt>(part)->op == SETOP_UNION && as<SetOperationStmt>(part)->all;
}

// Other operations in a UNION ALL become queries of it.
Node* with_queries(Query* query, Node* part) {
  if (IsA(part, RangeTblRef)) return part;
  if (!is_union_all(part)) {
    query->rtable = lappend(query->rtable, derived_table(query_of(query, part, 1)));
    return as<Node>(reference_to(list_length(query->rtable)));
  }
  auto* operation = as<SetOperationStmt>(part);
  operation->larg = with_queries(query, operation->larg);
  operation->rarg = with_queries(query, operation->rarg);
  return part;
}

void separate_operations(Query* query) {
  query->setOperations = with_queries(query, query->setOperations);
  forget_other_entries(query);
}

void group_operations(Query* query) {
  auto* operation = as<SetOperationStmt>(query->setOperations);
  if (is_union_all(query->setOperations)) {
    separate_operations(query);
  } else if (operation->op == SETOP_UNION) {
    group_union(query, operation);
  } else {
    group_sides(query, operation);
  }
}

// ---- Which operations ------------------------------------------------------------------------

bool shows_person_in_column(const List* branches, AttrNumber number) {
  for (const auto* branch : each<const Level>(branches)) {
    const auto* column =
        static_cast<const TargetEntry*>(list_nth(branch->query->targetList, number - 1));
    if (!is_person(branch, as<Node>(column->expr))) return false;
  }
  return true;
}

bool contains_person(const Level* level) {
  const List* branches = branches_of(level);
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    if (!column->resjunk && shows_person_in_column(branches, column->resno)) return true;
  }
  return false;
}

}  // namespace

void forget_other_entries(Query* query) {
  Query* made = new_query();
  const int first = as<RangeTblRef>(first_query_of(query->setOperations))->rtindex;
  query->setOperations = moved_part(query, query->setOperations, 0, made);
  query->rtable = made->rtable;
  ChangeVarNodes(as<Node>(query->targetList), first, 1, 0);
}

Query* union_all_of(List* queries, const SetOperationStmt* types) {
  Query* made = new_query();
  List* columns = columns_of(static_cast<const Query*>(linitial(queries)));
  for (auto* part : each<Query>(queries)) {
    made->rtable = lappend(made->rtable, derived_table(part));
  }
  if (types != nullptr) set_types(columns, types);
  auto* all = as<Node>(reference_to(1));
  for (int i = 2; i <= list_length(queries); ++i) all = union_of(all, i, columns);
  made->setOperations = all;
  made->targetList = columns;
  return made;
}

namespace {

// The constants of SELECT without FROM, of these types; NIL if it is another query.
List* constants_of(const Query* query, const List* types) {
  const bool is_row = query->commandType == CMD_SELECT && query->rtable == NIL &&
                      query->jointree->quals == nullptr && !combines_rows(query) &&
                      !query->hasTargetSRFs && query->limitCount == nullptr &&
                      query->limitOffset == nullptr &&
                      list_length(query->targetList) == list_length(types);
  if (!is_row) return NIL;
  List* row = NIL;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    const bool is_constant = IsA(column->expr, Const) && exprType(as<Node>(column->expr)) ==
                                                             list_nth_oid(types, list_length(row));
    if (!is_constant) return NIL;
    row = lappend(row, column->expr);
  }
  return row;
}

// Adds the rows of a part of a set operation. False if one is not of constants, or comes otherwise.
bool add_rows(const Query* query, const Node* part, const SetOperationStmt* whole, List** rows) {
  check_stack_depth();
  if (IsA(part, SetOperationStmt)) {
    const auto* operation = as<SetOperationStmt>(part);
    return operation->op == SETOP_UNION && operation->all == whole->all &&
           add_rows(query, operation->larg, whole, rows) &&
           add_rows(query, operation->rarg, whole, rows);
  }
  const RangeTblEntry* entry = rt_fetch(as<RangeTblRef>(part)->rtindex, query->rtable);
  if (entry->rtekind != RTE_SUBQUERY) return false;
  List* row = constants_of(entry->subquery, whole->colTypes);
  if (row == NIL) return false;
  *rows = whole->all ? lappend(*rows, row) : list_append_unique(*rows, row);
  return true;
}

}  // namespace

bool list_constants(const Level* level, bool is_beside_rows) {
  Query* query = level->query;
  const auto* whole = as<SetOperationStmt>(query->setOperations);
  const bool is_plain = query->sortClause == NIL && query->limitCount == nullptr &&
                        query->limitOffset == nullptr && query->rowMarks == NIL &&
                        query->cteList == NIL && whole->colTypes != NIL &&
                        (whole->all || is_beside_rows);
  List* rows = NIL;
  if (!is_plain || !add_rows(query, as<Node>(whole), whole, &rows)) return false;
  RangeTblEntry* values = makeNode(RangeTblEntry);
  values->rtekind = RTE_VALUES;
  values->values_lists = rows;
  values->coltypes = whole->colTypes;
  values->coltypmods = whole->colTypmods;
  values->colcollations = whole->colCollations;
  List* names = NIL;
  for (int i = 1; i <= list_length(whole->colTypes); ++i) {
    names = lappend(names, makeString(psprintf("column%d", i)));
  }
  values->alias = makeAlias("values", NIL);
  values->eref = makeAlias("values", names);
  values->inFromCl = true;
  List* columns = columns_of(query);
  set_types(columns, whole);
  query->targetList = columns;
  query->setOperations = nullptr;
  query->rtable = list_make1(values);
  query->jointree = makeFromExpr(list_make1(reference_to(1)), nullptr);
  return true;
}

bool group_set_operation(const Level* level) {
  Query* query = level->query;
  const bool is_searched =
      level->scans <= kMostScans && combines_branches_of_rows(level) && !level->unites_rows &&
      query->sortClause == NIL && query->limitCount == nullptr && query->limitOffset == nullptr &&
      query->rowMarks == NIL && !keeps_duplicates(query->setOperations) && contains_person(level);
  if (is_searched) group_operations(query);
  return is_searched;
}

}  // namespace dpquantile
