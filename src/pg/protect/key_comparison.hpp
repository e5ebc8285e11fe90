#pragma once

#include "pg/grants/reference.hpp"
#include "pg/query/level.hpp"

// Conditions of joins that compare columns of a foreign key with those of the key that it refers
// to, also through derived tables and CTEs.
namespace dpquantile {

// The condition that a column of a key is equal to one that refers to it.
Node* equality_of(Oid operation, Node* key, Node* own);

// The terms of a condition that AND combines, which may be null or a list of conditions.
List* terms_of(Node* condition);

// A column of a table that an entry of FROM shows.
struct ShownColumn {
  int entry;
  ColumnOrigin origin;
  const Var* column;  // of the entry
};

struct KeyComparison {
  Oid operation;  // key = own; invalid: a condition compares no columns of tables
  Oid collation;
  ShownColumn key;
  ShownColumn own;
};

// What a condition compares, and the same with both sides exchanged.
KeyComparison comparison_in(const Level* level, const Node* condition);
KeyComparison turned(const KeyComparison& comparison);

// The comparison of a column of the reference between the two rows of which `rows` compares
// columns, as a condition on the tables themselves; null if none of the conditions is it. `column`
// counts from 0. A derived table may show columns of several rows of a table.
Node* comparison_of_key(const Level* level, const Reference& reference, int column,
                        const KeyComparison& rows, const List* conditions);

// The references of the two tables of which a comparison has columns.
struct References {
  const Reference* of_key;
  const Reference* of_own;
};

// Whether conditions say that all columns by which these two rows refer to a table are equal, by
// the = and the collation by which both refer: then they refer to one row of it.
bool refer_to_one_row(const Level* level, const References& references, const KeyComparison& rows,
                      const List* conditions);

}  // namespace dpquantile
