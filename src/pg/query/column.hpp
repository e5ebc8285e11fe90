#pragma once

#include <optional>

#include "pg/query/level.hpp"

// Where the columns of a query level come from: through derived tables, CTEs and joins to the
// column of the table, whose domain has the bounds and keys. A wrong origin would take the bounds
// of another column, or one column for the one that identifies persons.
namespace dpquantile {

// An expression and the query level that computes it.
struct LevelExpression {
  const Level* level;
  Node* expression;
};

// What a column of a derived table, a CTE or a join stands for, or nothing for a column of a table
// or of a query that computes it from several rows.
std::optional<LevelExpression> definition_of(const Level* level, const Var* column);

// The expression of a column of a join (USING), or null if the column is of something else.
Node* merged_column(const Query* query, const Var* column);

// The relation and the number of the column that an expression shows as it is. The relation is a
// table, or a protected view.
struct ColumnOrigin {
  Oid relation;
  AttrNumber column;
};
std::optional<ColumnOrigin> origin_of(const Level* level, const Node* expression);

// A column of the level that shows this column of a relation, or null if FROM has none.
Node* column_showing(const Level* level, const ColumnOrigin& origin);

// The same of one entry of FROM.
Node* column_showing_in(const Level* level, int number, const ColumnOrigin& origin);

// The outer joins in a part of FROM, which may be null, that put NULLs in the place of an entry. A
// column above them is marked with them.
Bitmapset* nulling_joins(const Node* part, int entry);

// A column of the level that shows who the rows of a protected relation belong to: its user column,
// or, if it is protected through another table, the column that it gets after its own when the
// query is judged (pg/protect/references.hpp). Null if FROM has none.
Node* column_showing_users(const Level* level, Oid relation);

}  // namespace dpquantile
