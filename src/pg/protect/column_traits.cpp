#include "pg/protect/column_traits.hpp"

#include "pg/server/trees.hpp"

extern "C" {
#include "optimizer/clauses.h"
}

namespace dpquantile {

namespace {

bool is_public_column(const JudgedLevel* level, const Var* column) {
  if (column->varlevelsup > 0) return true;
  const JudgedEntry& entry = entry_of(level, column->varno);
  if (entry.may_be_absent) return false;
  const auto definition = definition_of(level, column);
  if (definition) return is_public(definition->level, definition->expression);
  // Queries of a UNION ALL may compute different values of public ones.
  return entry.source == nullptr && entry.is_public;
}

bool is_absent_column(const JudgedLevel* level, const Var* column) {
  if (column->varlevelsup > 0) return false;
  const JudgedEntry& entry = entry_of(level, column->varno);
  const bool has_rows = entry.relation != nullptr || entry.source != nullptr;
  if (has_rows && entry.may_be_absent) return true;
  return holds_for_column(level, column, is_null_when_absent);
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

Node* column_of_source(const JudgedLevel* source, int number) {
  const List* columns = source->query->targetList;
  if (number < 1 || number > list_length(columns)) return nullptr;
  return as<Node>(static_cast<const TargetEntry*>(list_nth(columns, number - 1))->expr);
}

std::optional<JudgedExpression> definition_of(const JudgedLevel* level, const Var* column) {
  if (column->varlevelsup > 0 || column->varattno < 1) return std::nullopt;
  if (level->read->unites_rows) return std::nullopt;
  if (Node* merged = merged_column(level->query, column)) return JudgedExpression{level, merged};
  const JudgedLevel* source = entry_of(level, column->varno).source;
  if (source == nullptr || source->read->unites_rows) return std::nullopt;
  Node* expression = column_of_source(source, column->varattno);
  return expression == nullptr ? std::nullopt : std::optional(JudgedExpression{source, expression});
}

bool is_public(const JudgedLevel* level, Node* expression) {
  return !any_node(expression, [&](const Node* node) {
    if (IsA(node, Aggref) || IsA(node, WindowFunc)) return true;
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
  const JudgedEntry& entry = entry_of(level, column->varno);
  const bool is_view = entry.source != nullptr && entry.source->view != nullptr;
  if (entry.relation != nullptr || is_view) {
    return column->varattno == entry.user_column ? column->varno : 0;
  }
  if (const Node* merged = merged_column(level->query, column)) return user_entry_of(level, merged);
  return holds_for_column(level, column, is_user_column) ? column->varno : 0;
}

bool is_user_column(const JudgedLevel* level, const Node* expression) {
  return user_entry_of(level, expression) != 0;
}

const ColumnWork* work_of_source(const JudgedLevel* level, const Var* column) {
  if (column->varlevelsup > 0 || column->varattno < 1) return nullptr;
  if (const Node* merged = merged_column(level->query, column)) {
    return IsA(merged, Var) ? work_of_source(level, as<Var>(merged)) : nullptr;
  }
  const JudgedLevel* source = entry_of(level, column->varno).source;
  const bool is_known = source != nullptr && source->works != nullptr &&
                        column_of_source(source, column->varattno) != nullptr;
  return is_known ? &source->works[column->varattno - 1] : nullptr;
}

int weight_of(const JudgedLevel* level, const Node* node) {
  const ColumnWork* work = IsA(node, Var) ? work_of_source(level, as<Var>(node)) : nullptr;
  return work == nullptr ? 1 : Max(work->nodes, 1);
}

bool reads_columns(Node* expression) {
  return expression != nullptr && find_column(expression, 0);
}

}  // namespace dpquantile
