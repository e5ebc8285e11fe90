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

// Two entries of FROM: of the rows that are referred to, and of those that refer.
struct Entries {
  int referenced;
  int referring;
};

// The comparison of a column of the reference between these entries, as a condition on the table
// itself; null if none of the conditions is it. `column` counts from 0.
Node* comparison_of_key(const Level* level, const Reference& reference, int column,
                        const Entries& entries, const List* conditions);

// A reference, and an entry that shows rows of the referring table.
struct ReferringEntry {
  const Reference* reference;
  int entry;
};

// Whether conditions say that all columns by which rows of two entries refer to a table are equal,
// by the = and the collation by which both refer: then they refer to one row.
bool refer_to_one_row(const Level* level, const ReferringEntry& one, const ReferringEntry& other,
                      const List* conditions);

}  // namespace dpquantile
