#pragma once

#include "pg/query/level.hpp"

// A query that lacks a column of its own rows gets it. The limit of the rows of each person, and
// the private choice of groups, need the person of each row, which derived tables and CTEs often
// leave out.
namespace dpquantile {

// The outer joins in a part of FROM, which may be null, that put NULLs in the place of an entry. A
// column above them is marked with them.
Bitmapset* nulling_joins(const Node* part, int entry);

// A column of an entry of FROM, as an expression above all joins.
Node* column_of_entry(const Level* level, int entry, AttrNumber number, Oid type, int32 modifier,
                      Oid collation);

// Makes the query of a derived table or CTE show an expression of its own, and returns the column
// of the level that has it: one more column, if none has it. Null if the query cannot show it: it
// combines rows of which this is no key, or sorts them.
Node* show_expression(const Level* level, int entry, Node* expression);

// A column of an entry of FROM that has this column of a relation. Derived tables and CTEs that
// leave it out get it. Null if it does not read the relation with borrowed rights, or not in a form
// that can show it.
Node* show_column(const Level* level, int entry, const ColumnOrigin& origin);

// In the same way, from all of FROM, a column with the users of a protected relation: its user
// column, or, if it is protected through another table, the column that it gets after its own when
// the query is judged (pg/protect/references.hpp).
Node* show_users(const Level* level, Oid relation);

// Has a query with GROUP BY, of a derived table or CTE without columns that it hides, group by one
// more expression, and show it.
void show_key(const Level* level, Node* key);

// Has all queries of a UNION ALL of rows show the person of the row in one column. Returns whether
// it has added one: not if there is one, or if a query cannot show it.
bool show_person_in_union(const Level* level);

}  // namespace dpquantile
