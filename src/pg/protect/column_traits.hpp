#pragma once

#include "pg/protect/judged_level.hpp"
#include "pg/query/level.hpp"

// What the columns of a source or release block depend on: a protected row, a row of a public
// table, or the person of the row. The rules of keys, of outer joins and of persons ask this. If a
// column passed for public that is not, the groups of an answer would be those of single rows; if
// one passed for the user column that is computed, rows of one person would count as those of many.
// (Lemmas 34d and 34e of docs/privacy/relations.md.)
namespace dpquantile {

// An expression and the level that computes it.
struct JudgedExpression {
  const JudgedLevel* level;
  Node* expression;
};

// What a column of a level stands for: an expression of a source, also of the body of a view, or of
// a join (USING) in the level itself. Nothing for a column of a table, a list or an outer query,
// and for one of a UNION ALL, which stands for several.
std::optional<JudgedExpression> definition_of(const JudgedLevel* level, const Var* column);

// The expression of a column of a source, or null if it has none with this number. That of a UNION
// ALL says nothing of its rows.
Node* column_of_source(const JudgedLevel* source, int number);

// Whether a check of a level and an expression passes for what a column of a source stands for: for
// the expressions of all queries of a UNION ALL.
template <class Check>
bool holds_in_source(const JudgedLevel* source, int number, Check check) {
  Node* expression = column_of_source(source, number);
  if (expression == nullptr) return false;
  if (!source->read->unites_rows) return check(source, expression);
  for (int i = 1; i <= list_length(source->query->rtable); ++i) {
    const JudgedLevel* branch = entry_of(source, i).source;
    if (branch == nullptr || !holds_in_source(branch, number, check)) return false;
  }
  return true;
}

// The same for a column of a level. It passes for none that stands for nothing.
template <class Check>
bool holds_for_column(const JudgedLevel* level, const Var* column, Check check) {
  if (const auto definition = definition_of(level, column)) {
    return check(definition->level, definition->expression);
  }
  if (column->varlevelsup > 0 || level->read->unites_rows) return false;
  const JudgedLevel* source = entry_of(level, column->varno).source;
  return source != nullptr && holds_in_source(source, column->varattno, check);
}

// Whether an expression depends on no protected row: its columns are of the public side of
// "public LEFT JOIN protected", or of outer queries.
bool is_public(const JudgedLevel* level, Node* expression);

// Whether an expression is NULL in a row of the public side that has no protected row: its
// functions are strict, and one of its columns is of the protected side.
bool is_null_when_absent(const JudgedLevel* level, Node* expression);

// The entry of FROM whose user column an expression is, and nothing else; 0 if it is none.
int user_entry_of(const JudgedLevel* level, const Node* expression);

// Whether an expression is nothing but the user column of the protected rows. In a
// row it identifies the person, or is NULL.
bool is_user_column(const JudgedLevel* level, const Node* expression);

// How a column is computed that is one of a source, also by way of a join (USING); null for others.
const ColumnWork* work_of_source(const JudgedLevel* level, const Var* column);

// How many nodes a node stands for: a column of a source for the expression that computes it.
int weight_of(const JudgedLevel* level, const Node* node);

// Whether an expression has columns, of this or of an outer query, or aggregates or subqueries.
// Otherwise it has one value for the whole query.
bool reads_columns(Node* expression);

}  // namespace dpquantile
