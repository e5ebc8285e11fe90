#include "pg/protect/user_of_row.hpp"

#include "pg/protect/column_traits.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/sysattr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr char kColumnName[] = "dpquantile user";

Node* make_column(const JudgedLevel* level, int entry, AttrNumber number, Oid type, int32 modifier,
                  Oid collation) {
  Var* column = makeVar(entry, number, type, modifier, collation, 0);
  DPQ_SET_NULLING_JOINS(column, nulling_joins(as<Node>(level->query->jointree), entry));
  return as<Node>(column);
}

// The user's column of the table itself.
Node* column_of_table(const JudgedLevel* level, int number, const BorrowedRelation* relation) {
  const RangeTblEntry* entry = rt_fetch(number, level->query->rtable);
  if (entry->rtekind != RTE_RELATION || relation->user_column < 1) return nullptr;
  RelationPermissions* permissions = relation->permissions;
  permissions->selectedCols =
      bms_add_member(bms_copy(permissions->selectedCols),
                     relation->user_column - FirstLowInvalidHeapAttributeNumber);
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(entry->relid, relation->user_column, &type, &modifier, &collation);
  return make_column(level, number, relation->user_column, type, modifier, collation);
}

// ---- Derived tables and CTEs ---------------------------------------------------------------

// Whether an expression is the user of the source's rows, and not another column of users, which an
// outer join may make NULL.
bool is_user_of_row(const JudgedLevel* source, const Node* expression) {
  if (user_entry_of(source, expression) != source->user_entry) return false;
  const auto* column = as<Var>(expression);
  const Node* merged = merged_column(source->query, column);
  if (merged != nullptr) return is_user_of_row(source, merged);
  const JudgedLevel* below = entry_of(source, column->varno).source;
  return below == nullptr || below->view != nullptr ||
         is_user_of_row(below, column_of_source(below, column->varattno));
}

// The number of the column that has the user; 0 if none has.
AttrNumber find_user(const JudgedLevel* source) {
  for (const auto* column : each<const TargetEntry>(source->query->targetList)) {
    const auto* expression = as<Node>(column->expr);
    if (is_user_of_row(source, expression)) return column->resno;
  }
  return 0;
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

// The number of the source's column that has the user, which is added if there is none; 0 if it
// cannot be.
AttrNumber require_user(const Entry& entry, JudgedLevel* source) {
  if (source->view != nullptr) return source->view_user_column;
  if (const AttrNumber number = find_user(source)) return number;
  Query* query = source->query;
  Node* user = user_of_row(source);
  if (user == nullptr || query->setOperations != nullptr) return 0;
  const auto number = static_cast<AttrNumber>(list_length(query->targetList) + 1);
  query->targetList = lappend(query->targetList,
                              makeTargetEntry(as<Expr>(user), number, pstrdup(kColumnName), false));
  if (entry.cte != nullptr) add_to_cte(entry.cte, user);
  return number;
}

bool has_junk(const Query* query) {
  for (const auto* entry : each<const TargetEntry>(query->targetList)) {
    if (entry->resjunk) return true;
  }
  return false;
}

Node* column_of_source(const JudgedLevel* level, int number, JudgedLevel* source) {
  RangeTblEntry* entry = rt_fetch(number, level->query->rtable);
  if (entry->rtekind != RTE_SUBQUERY && entry->rtekind != RTE_CTE) return nullptr;
  if (has_junk(source->query)) return nullptr;
  const AttrNumber column = require_user(entry_of(level->read, number), source);
  if (column < 1 || column > list_length(source->query->targetList)) return nullptr;
  make_columns_known(entry, source->query);
  const auto* target =
      static_cast<const TargetEntry*>(list_nth(source->query->targetList, column - 1));
  const auto* user = as<Node>(target->expr);
  return make_column(level, number, column, exprType(user), exprTypmod(user), exprCollation(user));
}

}  // namespace

Node* user_of_row(JudgedLevel* level) {
  check_stack_depth();
  const int number = level->user_entry;
  const JudgedEntry& entry = entry_of(level, number);
  if (entry.relation != nullptr) return column_of_table(level, number, entry.relation);
  return column_of_source(level, number, const_cast<JudgedLevel*>(entry.source));
}

}  // namespace dpquantile
