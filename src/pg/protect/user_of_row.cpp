#include "pg/protect/user_of_row.hpp"

#include "pg/protect/column_traits.hpp"
#include "pg/query/shown_column.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/sysattr.h"
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

bool is_user_of_row(const JudgedLevel* source, const Node* expression) {
  if (!bms_is_member(user_entry_of(source, expression), source->user_entries)) return false;
  const auto* column = as<Var>(expression);
  const JudgedEntry& entry = entry_of(source, column->varno);
  const bool is_view = entry.source != nullptr && entry.source->view != nullptr;
  return entry.relation != nullptr || is_view || holds_for_column(source, column, is_user_of_row);
}

namespace {

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
  return column_of_entry(level->read, number, relation->user_column, type, modifier, collation);
}

Node* user_of_union(const JudgedLevel* level) {
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    if (holds_in_source(level, column->resno, is_user_of_row)) return as<Node>(column->expr);
  }
  return nullptr;
}

// The expression of a source that is the person of its rows; null if it has none.
Node* user_of_source(JudgedLevel* source) {
  if (source->read->unites_rows) return user_of_union(source);
  if (source->view != nullptr) return column_of_source(source, source->view_user_column);
  for (const auto* column : each<const TargetEntry>(source->query->targetList)) {
    auto* expression = as<Node>(column->expr);
    if (is_user_of_row(source, expression)) return expression;
  }
  return user_of_row(source);
}

}  // namespace

Node* user_of_row(JudgedLevel* level) {
  check_stack_depth();
  const int number = level->user_entry;
  const JudgedEntry& entry = entry_of(level, number);
  if (entry.relation != nullptr) return column_of_table(level, number, entry.relation);
  Node* user = user_of_source(const_cast<JudgedLevel*>(entry.source));
  return user == nullptr ? nullptr : show_expression(level->read, number, user);
}

void leave_out_nobody(JudgedLevel* level) {
  Node* person = user_of_row(level);
  if (person == nullptr) {
    refuse(level->statement->refused, kNowhere,
           "the query does not show which person each row belongs to",
           "Name the table itself in FROM.");
  }
  NullTest* is_known = makeNode(NullTest);
  is_known->arg = as<Expr>(person);
  is_known->nulltesttype = IS_NOT_NULL;
  is_known->location = -1;
  FromExpr* from = level->query->jointree;
  from->quals = from->quals == nullptr
                    ? as<Node>(is_known)
                    : as<Node>(makeBoolExpr(AND_EXPR, list_make2(is_known, from->quals), -1));
}

}  // namespace dpquantile
