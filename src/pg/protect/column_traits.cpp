#include "pg/protect/column_traits.hpp"

#include "pg/server/trees.hpp"

extern "C" {
#include "optimizer/clauses.h"
}

namespace dpquantile {

namespace {

// Whether a column of an entry names the users.
bool has_users(const JudgedEntry& entry, AttrNumber number) {
  const bool is_view = entry.source != nullptr && entry.source->view != nullptr;
  if (entry.relation != nullptr || is_view) return number == entry.user_column;
  if (entry.source == nullptr) return false;
  const Node* original = column_of_source(entry.source, number);
  if (original == nullptr) return false;
  const Node* key = entry.source->person_key;
  return (key != nullptr && equal(original, key)) || is_user_column(entry.source, original);
}

bool is_public_column(const JudgedLevel* level, const Var* column) {
  if (column->varlevelsup > 0) return true;
  if (Node* merged = merged_column(level->query, column)) return is_public(level, merged);
  const JudgedEntry& entry = entry_of(level, column->varno);
  if (entry.may_be_absent) return false;
  if (entry.source == nullptr) return entry.is_public;
  Node* expression = column_of_source(entry.source, column->varattno);
  return expression != nullptr && is_public(entry.source, expression);
}

bool is_absent_column(const JudgedLevel* level, const Var* column) {
  if (column->varlevelsup > 0) return false;
  if (Node* merged = merged_column(level->query, column)) return is_null_when_absent(level, merged);
  const JudgedEntry& entry = entry_of(level, column->varno);
  if (entry.relation != nullptr || entry.source != nullptr) {
    if (entry.may_be_absent) return true;
  }
  if (entry.source == nullptr) return false;
  Node* expression = column_of_source(entry.source, column->varattno);
  return expression != nullptr && is_null_when_absent(entry.source, expression);
}

// CASE and the cast of an array stand for the value that their placeholder (CaseTestExpr) has.
bool binds_placeholder(const Node* node) {
  return IsA(node, CaseExpr) || IsA(node, ArrayCoerceExpr);
}

// `bound`: how many nodes around this one bind the placeholder.
bool find_column(Node* node, int bound) {
  switch (nodeTag(node)) {
    case T_Var:
    case T_Aggref:
    case T_WindowFunc:
    case T_GroupingFunc:
    case T_SubLink:
      return true;
    case T_CaseTestExpr:
      return bound == 0;
    default:
      break;
  }
  const int inside = bound + (binds_placeholder(node) ? 1 : 0);
  return any_child(node, [&](Node* child) { return find_column(child, inside); });
}

}  // namespace

Node* column_of_source(const JudgedLevel* source, AttrNumber number) {
  const List* columns = source->query->targetList;
  if (number < 1 || number > list_length(columns)) return nullptr;
  return as<Node>(static_cast<TargetEntry*>(list_nth(columns, number - 1))->expr);
}

bool is_public(const JudgedLevel* level, Node* expression) {
  return !any_node(expression, [&](const Node* node) {
    if (IsA(node, Aggref)) return true;
    return IsA(node, Var) && !is_public_column(level, as<Var>(node));
  });
}

bool is_null_when_absent(const JudgedLevel* level, Node* expression) {
  return !contain_nonstrict_functions(expression) && any_node(expression, [&](const Node* node) {
    return IsA(node, Var) && is_absent_column(level, as<Var>(node));
  });
}

int user_entry_of(const JudgedLevel* level, const Node* expression) {
  if (!IsA(expression, Var)) return 0;
  const auto* column = as<Var>(expression);
  if (column->varlevelsup > 0 || column->varattno < 1) return 0;
  const Node* merged = merged_column(level->query, column);
  if (merged != nullptr) return user_entry_of(level, merged);
  return has_users(entry_of(level, column->varno), column->varattno) ? column->varno : 0;
}

bool is_user_column(const JudgedLevel* level, const Node* expression) {
  return user_entry_of(level, expression) != 0;
}

int weight_of(const JudgedLevel* level, const Node* node) {
  if (!IsA(node, Var)) return 1;
  const auto* column = as<Var>(node);
  if (column->varlevelsup > 0 || column->varattno < 1) return 1;
  if (const Node* merged = merged_column(level->query, column)) return weight_of(level, merged);
  const JudgedLevel* source = entry_of(level, column->varno).source;
  if (source == nullptr || column_of_source(source, column->varattno) == nullptr) return 1;
  return Max(source->weights[column->varattno - 1], 1);
}

bool reads_columns(Node* expression) {
  return expression != nullptr && find_column(expression, 0);
}

}  // namespace dpquantile
