#pragma once

#include "pg/plain/plain_level.hpp"

extern "C" {
#include "lib/stringinfo.h"
}

// The rows of a grouped level as a derived table, beside which something public stands that has the
// keys of the groups: `public LEFT JOIN rows`. The derived table computes what aggregates read, and
// has a column that is not NULL for any of its rows. What stands above is parsed from a template,
// and then refers to its columns.
namespace dpquantile {

struct RowsBelow {
  List* keys;         // what of the level is public: expressions
  List* new_keys;     // and what stands for them in the new query
  List* columns;      // what the aggregates read: their arguments and filters
  List* new_columns;  // Vars of the derived table
  bool moves_ctes;    // whether the level has WITH queries
};

// Adds what the aggregates of an expression read; different rows of several values are texts there
// (written_values.hpp). Returns whether it has a column that no key and no aggregate has.
bool find_columns(Node* expression, RowsBelow* rows);
void add_column(RowsBelow* rows, Node* expression);

// ereports if the aggregates read too much.
void check_columns(const PlainLevel* level, const RowsBelow& rows);

// The type of an expression as it is written in a template; NULLs of the types of expressions, each
// followed by its name and a comma; and a template as a query, whatever types and operators of the
// role's own come first in its search_path: the lists that take the place of its NULLs are of the
// types that it names.
char* type_and_collation(const Node* expression);
void append_nulls(StringInfo text, const char* prefix, const List* expressions);
Query* parse_template(const char* text);

// A derived table with FROM and WHERE of the level's query, which are no more its own, and without
// columns. When it has its columns, it is put a level below.
Query* make_source(const Query* query);
void add_source_column(Query* source, Node* expression, const char* name);
void add_source_columns(Query* source, const List* expressions, const char* prefix);
void put_below(Query* source);

// Has the level's query select from what has been made of the template. Of an expression of the
// level: what it is over that.
Node* over_rows_below(const RowsBelow& rows, Node* expression);
void select_from_made(Query* query, Query* made, const RowsBelow& rows);

}  // namespace dpquantile
