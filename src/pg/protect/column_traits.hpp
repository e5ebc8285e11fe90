#pragma once

#include "pg/protect/judged_level.hpp"
#include "pg/query/level.hpp"

// What the columns of a source or release block depend on: a protected row, a row of a public
// table, or the person of the row. The rules of keys, of outer joins and of persons ask this. If a
// column passed for public that is not, the groups of an answer would be those of single rows; if
// one passed for the user column that is computed, rows of one person would count as those of many.
// (Lemmas 34d and 34e of docs/privacy/relations.md.)
namespace dpquantile {

// The expression of a column of a source, or null if it has none with this number.
Node* column_of_source(const JudgedLevel* source, AttrNumber number);

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

// How many nodes a node stands for: a column of a source for the expression that computes it, which
// is computed again for each use.
int weight_of(const JudgedLevel* level, const Node* node);

// Whether an expression has columns, of this or of an outer query, or aggregates or subqueries.
// Otherwise it has one value for the whole query.
bool reads_columns(Node* expression);

}  // namespace dpquantile
