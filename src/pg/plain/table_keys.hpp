#pragma once

#include "pg/query/level.hpp"

// Keys that are columns of a public table or of VALUES in FROM, or computed of those of one, also
// through derived tables: SELECT c.name, v.kind, count(*) FROM visits v LEFT JOIN clinics c ON …
// GROUP BY c.name, v.kind. Their list is what they are in the rows of the table (public_rows.hpp),
// and where an outer join leaves the table out. A column of other rows that this join compares with
// one of the table is that column, and has the values of its own list where the table is left out.
// Conditions on the table alone leave rows out, and so do those on other public tables that an
// inner join compares it with. The table is public, and so is the list: it does not tell which of
// its rows protected rows are joined with.
namespace dpquantile {

// Keys of one table or VALUES, which have their values together: of the name and the region of a
// clinic there are no more pairs than clinics.
struct TableKeys {
  List* numbers;       // int: which of the keys, from 0
  List* rows;          // List of List of Const, in the order of the numbers; each once
  const char* source;  // the name of the table, or of VALUES in the query
  bool is_of_stage;    // whether rows of a stage (pg/staged) stand in VALUES, or made-up ones
  // For each of the keys a value that is not NULL, if necessary of another row; null if there is
  // none.
  List* substitutes;
};

// Those among the keys of a level whose values are found: TableKeys. No key is in two. Not found
// are those with more than kMaxElements rows, of tables that must not be read, and of types or
// collations that are not PostgreSQL's own, or have no order.
// `own_list` gives the list that a column has without tables, and is false where one of its values
// stands for all others; null: only keys of tables are looked for, and not those of stages.
using OwnList = bool (*)(const Level* level, Node* column, List** values);
List* keys_of_tables(const Level* level, const List* keys, OwnList own_list);

// Whether an inner join compares columns of a table with those of another one that may be read.
bool is_joined_with_table(const Level* level, int entry);

// Whether a key is a column of a table that may be read or of VALUES, or computed of those of one.
bool is_of_table(const Level* level, Node* key);

// The values of one key, NULL among them; NIL if they are not found, or there are none.
List* values_of_table(const Level* level, Node* key);

// The values of a column of protected rows by a foreign key of it alone, which is valid and not
// deferrable: those of the column of a table that may be read, whether FROM has the table or not,
// and NULL if the column may be NULL. NIL if there is no such key, or they are not found.
List* values_of_referenced_table(const Level* level, Node* column);

}  // namespace dpquantile
