#include "pg/query/shown_column.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr char kColumnName[] = "dpquantile user";

// Adds the outer joins in a part of FROM that put NULLs in the place of an entry. Returns whether
// the part has the entry.
bool add_nulling_joins(const Node* part, int entry, Bitmapset** joins) {
  if (IsA(part, RangeTblRef)) return as<RangeTblRef>(part)->rtindex == entry;
  if (IsA(part, FromExpr)) {
    for (const auto* node : each<const Node>(as<FromExpr>(part)->fromlist)) {
      if (add_nulling_joins(node, entry, joins)) return true;
    }
    return false;
  }
  if (!IsA(part, JoinExpr)) return false;
  const auto* join = as<JoinExpr>(part);
  const bool is_left = add_nulling_joins(join->larg, entry, joins);
  if (!is_left && !add_nulling_joins(join->rarg, entry, joins)) return false;
  const bool may_be_null =
      join->jointype == JOIN_FULL || join->jointype == (is_left ? JOIN_RIGHT : JOIN_LEFT);
  if (may_be_null) *joins = bms_add_member(*joins, join->rtindex);
  return true;
}

void add_to_cte(CommonTableExpr* cte, const Node* user) {
  cte->ctecolnames = lappend(cte->ctecolnames, makeString(pstrdup(kColumnName)));
  cte->ctecoltypes = lappend_oid(cte->ctecoltypes, exprType(user));
  cte->ctecoltypmods = lappend_int(cte->ctecoltypmods, exprTypmod(user));
  cte->ctecolcollations = lappend_oid(cte->ctecolcollations, exprCollation(user));
}

// Entries of one CTE may have been made before the column was added.
void make_columns_known(RangeTblEntry* entry, const Query* source) {
  for (int i = list_length(entry->eref->colnames); i < list_length(source->targetList); ++i) {
    const auto* column = static_cast<const TargetEntry*>(list_nth(source->targetList, i));
    const auto* expression = as<Node>(column->expr);
    entry->eref->colnames =
        lappend(entry->eref->colnames,
                makeString(pstrdup(column->resname == nullptr ? "?column?" : column->resname)));
    if (entry->rtekind != RTE_CTE) continue;
    entry->coltypes = lappend_oid(entry->coltypes, exprType(expression));
    entry->coltypmods = lappend_int(entry->coltypmods, exprTypmod(expression));
    entry->colcollations = lappend_oid(entry->colcollations, exprCollation(expression));
  }
}

bool has_junk(const Query* query) {
  for (const auto* entry : each<const TargetEntry>(query->targetList)) {
    if (entry->resjunk) return true;
  }
  return false;
}

// The number of the column; 0 if there is none.
AttrNumber find_expression(const Query* query, const Node* expression) {
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (!column->resjunk && equal(column->expr, expression)) return column->resno;
  }
  return 0;
}

AttrNumber require_expression(const Entry& entry, Node* expression) {
  Query* query = entry.below->query;
  if (const AttrNumber number = find_expression(query, expression)) return number;
  if (has_junk(query) || combines_rows(query)) return 0;
  const auto number = static_cast<AttrNumber>(list_length(query->targetList) + 1);
  query->targetList = lappend(query->targetList, makeTargetEntry(as<Expr>(expression), number,
                                                                 pstrdup(kColumnName), false));
  if (entry.cte != nullptr) add_to_cte(entry.cte, expression);
  return number;
}

// The number of the column of the persons in all queries of a UNION ALL; 0 if there is none.
AttrNumber person_of_union(const Level* level) {
  const List* branches = branches_of(level);
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    bool shows = true;
    for (const auto* branch : each<const Level>(branches)) {
      const List* columns = branch->query->targetList;
      const auto* shown = static_cast<const TargetEntry*>(list_nth(columns, column->resno - 1));
      shows = shows && is_person(branch, as<Node>(shown->expr));
    }
    if (shows) return column->resno;
  }
  return 0;
}

// A column of a relation, and what it is of.
struct Searched {
  Oid relation;
  AttrNumber column;
  Oid type;
  int32 modifier;
  Oid collation;
};

// The users of a table that is protected through another one are the column after its own: the
// query gets it when it is judged.
Node* column_of_relation(const Level* level, int number, const Searched& searched) {
  const Entry& entry = entry_of(level, number);
  const bool is_added = searched.column == kUsersOfReference;
  if (is_added && entry.below != nullptr) return nullptr;
  const AttrNumber column = is_added ? added_person_of(entry.relation) : searched.column;
  return column_of_entry(level, number, column, searched.type, searched.modifier,
                         searched.collation);
}

// A UNION ALL shows persons in one column, whichever table a row is of.
Node* show_person_of_union(const Level* level, int number, const Searched& searched) {
  const Entry& entry = entry_of(level, number);
  const ProtectedRelation* protection = find_protected_relation(searched.relation);
  const bool is_searched = protection != nullptr && protection->user_column == searched.column &&
                           list_member_oid(entry.below->borrowed_rows, searched.relation);
  const AttrNumber column = is_searched ? person_of_union(entry.below) : InvalidAttrNumber;
  if (column == InvalidAttrNumber) return nullptr;
  const auto* target =
      static_cast<const TargetEntry*>(list_nth(entry.below->query->targetList, column - 1));
  make_columns_known(entry.table, entry.below->query);
  const auto* person = as<Node>(target->expr);
  return column_of_entry(level, number, column, exprType(person), exprTypmod(person),
                         exprCollation(person));
}

Node* show_in_from(const Level* level, const Searched& searched);

// Null if the entry does not have it.
Node* show_in_entry(const Level* level, int number, const Searched& searched) {
  const Entry& entry = entry_of(level, number);
  if (entry.relation == searched.relation && entry.borrowed != nullptr) {
    return column_of_relation(level, number, searched);
  }
  if (OidIsValid(entry.relation) || entry.below == nullptr || hides_rows(entry.below)) {
    return nullptr;
  }
  if (entry.below->unites_rows) return show_person_of_union(level, number, searched);
  Node* below = show_in_from(entry.below, searched);
  return below == nullptr ? nullptr : show_expression(level, number, below);
}

Node* show_in_part(const Level* level, const Node* part, const Searched& searched) {
  if (IsA(part, RangeTblRef)) {
    return show_in_entry(level, as<RangeTblRef>(part)->rtindex, searched);
  }
  if (!IsA(part, JoinExpr)) return nullptr;
  const auto* join = as<JoinExpr>(part);
  Node* left = show_in_part(level, join->larg, searched);
  return left != nullptr ? left : show_in_part(level, join->rarg, searched);
}

Node* show_in_from(const Level* level, const Searched& searched) {
  for (const auto* part : each<const Node>(level->query->jointree->fromlist)) {
    Node* column = show_in_part(level, part, searched);
    if (column != nullptr) return column;
  }
  return nullptr;
}

Searched column_as_searched(const ColumnOrigin& origin) {
  Searched searched = {origin.relation, origin.column, InvalidOid, -1, InvalidOid};
  get_atttypetypmodcoll(origin.relation, origin.column, &searched.type, &searched.modifier,
                        &searched.collation);
  return searched;
}

}  // namespace

Bitmapset* nulling_joins(const Node* part, int entry) {
  Bitmapset* joins = nullptr;
  if (part != nullptr) (void)add_nulling_joins(part, entry, &joins);
  return joins;
}

Node* column_of_entry(const Level* level, int entry, AttrNumber number, Oid type, int32 modifier,
                      Oid collation) {
  Var* column = makeVar(entry, number, type, modifier, collation, 0);
  DPQ_SET_NULLING_JOINS(column, nulling_joins(as<Node>(level->query->jointree), entry));
  return as<Node>(column);
}

void show_key(const Level* level, Node* key) {
  Query* query = level->query;
  Index largest = 0;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    largest = Max(largest, column->ressortgroupref);
  }
  TargetEntry* column =
      makeTargetEntry(as<Expr>(key), static_cast<AttrNumber>(list_length(query->targetList) + 1),
                      pstrdup(kColumnName), false);
  column->ressortgroupref = largest + 1;
  query->targetList = lappend(query->targetList, column);
  SortGroupClause* clause = makeNode(SortGroupClause);
  clause->tleSortGroupRef = column->ressortgroupref;
  get_sort_group_operators(exprType(key), false, true, false, &clause->sortop, &clause->eqop,
                           nullptr, &clause->hashable);
  query->groupClause = lappend(query->groupClause, clause);
  for (auto* cte : each<CommonTableExpr>(level->parent->query->cteList)) {
    if (cte->ctequery == as<Node>(query)) add_to_cte(cte, key);
  }
}

Node* show_expression(const Level* level, int number, Node* expression) {
  RangeTblEntry* table = rt_fetch(number, level->query->rtable);
  const Entry& entry = entry_of(level, number);
  if ((table->rtekind != RTE_SUBQUERY && table->rtekind != RTE_CTE) || entry.below == nullptr) {
    return nullptr;
  }
  const AttrNumber column = require_expression(entry, expression);
  if (column == 0) return nullptr;
  make_columns_known(table, entry.below->query);
  return column_of_entry(level, number, column, exprType(expression), exprTypmod(expression),
                         exprCollation(expression));
}

namespace {

// The person of the rows of a query; null if it cannot show it.
Node* person_of_rows(const Level* level) {
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    const auto* expression = as<Node>(column->expr);
    if (is_person(level, expression)) return static_cast<Node*>(copyObjectImpl(expression));
  }
  if (combines_rows(level->query)) return nullptr;
  const ProtectedRelation* protection = find_protected_relation(linitial_oid(level->borrowed_rows));
  const bool has_own_users = protection != nullptr && protection->user_column > 0;
  return has_own_users ? show_users(level, linitial_oid(level->borrowed_rows)) : nullptr;
}

void add_column(Query* query, Node* expression) {
  const auto number = static_cast<AttrNumber>(list_length(query->targetList) + 1);
  query->targetList = lappend(query->targetList, makeTargetEntry(as<Expr>(expression), number,
                                                                 pstrdup(kColumnName), false));
}

void add_type(Node* part, const Var* column) {
  if (!IsA(part, SetOperationStmt)) return;
  auto* operation = as<SetOperationStmt>(part);
  operation->colTypes = lappend_oid(operation->colTypes, column->vartype);
  operation->colTypmods = lappend_int(operation->colTypmods, column->vartypmod);
  operation->colCollations = lappend_oid(operation->colCollations, column->varcollid);
  add_type(operation->larg, column);
  add_type(operation->rarg, column);
}

void add_to_union(const Level* level, Var* person) {
  Query* query = level->query;
  person->varattno = static_cast<AttrNumber>(list_length(query->targetList) + 1);
  add_column(query, as<Node>(person));
  add_type(query->setOperations, person);
  for (int i = 1; i <= list_length(query->rtable); ++i) {
    const Entry& branch = entry_of(level, i);
    if (branch.below != nullptr) make_columns_known(branch.table, branch.below->query);
  }
  for (auto* cte : each<CommonTableExpr>(level->parent->query->cteList)) {
    if (cte->ctequery == as<Node>(query)) add_to_cte(cte, as<Node>(person));
  }
}

// A column of the type to which PostgreSQL casts these expressions; null if there is none.
Var* common_column(List* expressions) {
  Node* chosen = nullptr;
  const Oid type = select_common_type(nullptr, expressions, nullptr, &chosen);
  if (!OidIsValid(type)) return nullptr;
  int32 modifier = exprTypmod(chosen);
  for (const auto* expression : each<const Node>(expressions)) {
    if (exprType(expression) != type || exprTypmod(expression) != modifier) modifier = -1;
  }
  return makeVar(1, 1, type, modifier, exprCollation(chosen), 0);
}

}  // namespace

bool show_person_in_union(const Level* level) {
  if (!level->unites_rows || has_junk(level->query) || person_of_union(level) != 0) return false;
  // The queries of a set operation have equally many columns.
  const bool is_branch = level->parent != nullptr &&
                         level->parent->query->setOperations != nullptr &&
                         !list_member_ptr(level->parent->ctes, level);
  if (is_branch) return false;
  const List* branches = branches_of(level);
  List* persons = NIL;
  for (const auto* branch : each<const Level>(branches)) {
    const bool is_fixed = has_junk(branch->query) || branch->query->setOperations != nullptr;
    Node* person = is_fixed ? nullptr : person_of_rows(branch);
    if (person == nullptr) return false;
    persons = lappend(persons, person);
  }
  Var* person_of_any = common_column(persons);
  if (person_of_any == nullptr) return false;
  for (int i = 0; i < list_length(branches); ++i) {
    const auto* branch = static_cast<const Level*>(list_nth(branches, i));
    add_column(branch->query, static_cast<Node*>(list_nth(persons, i)));
  }
  add_to_union(level, person_of_any);
  return true;
}

Node* show_column(const Level* level, int number, const ColumnOrigin& origin) {
  return show_in_entry(level, number, column_as_searched(origin));
}

Node* show_users(const Level* level, Oid relation) {
  const ProtectedRelation* protection = find_protected_relation(relation);
  if (protection == nullptr) return nullptr;
  const AttrNumber column = protection->user_column;
  const UserColumn users = column_of_users(relation);
  if (!OidIsValid(users.relation)) return nullptr;
  Searched searched = column_as_searched({users.relation, users.number});
  searched.relation = relation;
  searched.column = column;
  return show_in_from(level, searched);
}

}  // namespace dpquantile
