#pragma once

#include "pg/query/level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// What subqueries in expressions become: derived tables that a LEFT JOIN adds to the rows of the
// level, and expressions over their columns. Those about persons (person_subqueries.hpp) and those
// of public tables (public_subqueries.hpp) are joined in the same way.
namespace dpquantile {

// Where in a level expressions are, and what their subqueries have become.
struct Place {
  const Level* level;
  JoinExpr* join;    // in whose ON they are; null: in WHERE, or among the columns
  int entries;       // how many the range table had before
  List* subqueries;  // of Node
  List* conditions;  // of int: whether NULL there is as good as false
  List* values;      // of Node
};

Place place_in(const Level* level, JoinExpr* join);

// The part of FROM with an entry that no outer join separates from the expressions of the place, or
// null.
Node* part_with(const Place* place, int number);

// The same for several entries. Makes one part of those that a list in FROM separates.
Node* part_with_all(const Place* place, const Bitmapset* entries);

// The part with protected rows; the first one, if there are none.
Node* part_with_rows(const Place* place);

// A derived table in FROM, and the join with it.
struct Joined {
  const Query* group;
  int entry;
  JoinExpr* join;
};

// Joins a part of FROM with a derived table, by a condition that the caller adds.
Joined join_derived(const Place* place, Query* derived, Node* part);

// A column of it, as the condition of the join names it; and as expressions above the join do.
Var* column_in_join(const Joined& joined, int number);
Node* column_of_group(const Joined& joined, int number);

// ---- Queries -------------------------------------------------------------------------------

// The level of a subquery, or null.
const Level* level_of(const Level* level, const SubLink* link);

// Whether LIMIT or OFFSET may leave out the first row.
bool may_leave_out_rows(const Query* query);

// Adds a column, which the query may group by.
void append_column(List** columns, TargetEntry* column);
TargetEntry* column_of(Node* expression, Index reference);
SortGroupClause* grouping_by(const TargetEntry* column);

// Adds expressions to GROUP BY, in lists of the query's own.
void group_by_more(Query* query, const List* keys);

// PostgreSQL 18 has copies of the keys.
void forget_group_keys(Query* query);

// ---- Expressions ---------------------------------------------------------------------------

// An = that joins can be hashed by; null for other expressions.
OpExpr* as_equality(Node* expression);

Node* is_not_null(Node* value);

// CASE WHEN condition THEN value END
Node* value_if(Node* condition, Node* value);

// A column of the level around, in the words of a query so many levels below it.
Var* column_below(const Var* column, Index levels);

}  // namespace dpquantile
