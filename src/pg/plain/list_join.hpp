#pragma once

#include "pg/plain/rows_below.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "miscadmin.h"
}

// The query of keyed_query.hpp: the lists of keys, and beside them the rows as a derived table,
// with keys that = compares with those of the lists. It is parsed from a template, and the lists
// and rows put into it.
namespace dpquantile {

struct Replacement : RowsBelow {
  List* lists;        // the public values of the keys that conditions on one key leave in
  List* whole_lists;  // all of them
  Bitmapset* nulls;   // the numbers of the keys with NULL in their lists
  List* substitutes;  // for each key a value of its list that is not NULL
  List* others;       // for each key the value of its list that stands for all others, or null
  // For each key the value of its list that a row is joined with, or null if none is; null: rows
  // are not joined with lists.
  List* found;
  // The person of a row, if the rows are counted by persons: those of a person group of the persons
  // and the keys in the lists are joined then, with each column as whether one of its rows has it.
  // Else null.
  Node* person;
  // The combinations of the lists that conditions on several keys leave in; NIL if they are all, or
  // not looked at.
  List* combinations_left;
};

bool has_nulls(const Replacement& replacement);

// How many rows the lists make together.
double combinations(const Replacement& replacement);

// Whether these may be arrays, as more than kMaxElements are. Else they are VALUES.
bool has_array_types(const Replacement& replacement);

// Calls `use` with each combination of the values of the keys, until it returns false. The row has
// a constant for each key, and changes from call to call.
template <class Use>
void each_combination(const Replacement& replacement, Use use) {
  List* row = NIL;
  for (auto* values : each<List>(replacement.lists)) {
    if (values == NIL) return;
    row = lappend(row, linitial(values));
  }
  const int keys = list_length(row);
  auto* numbers = static_cast<int*>(palloc0(static_cast<Size>(keys + 1) * sizeof(int)));
  for (int key = 0; key >= 0;) {
    CHECK_FOR_INTERRUPTS();
    if (!use(row)) return;
    for (key = keys - 1; key >= 0; --key) {
      const auto* values = static_cast<const List*>(list_nth(replacement.lists, key));
      numbers[key] = (numbers[key] + 1) % list_length(values);
      lfirst(list_nth_cell(row, key)) = list_nth(values, numbers[key]);
      if (numbers[key] > 0) break;
    }
  }
}

// key IS NULL
Expr* null_test(const Node* key);

// The query without lists and rows, for lists as they are then; and the columns of it that stand
// for keys and for what aggregates read.
Query* parse_list_join(const Replacement& replacement);
void find_new_columns(const Query* made, Replacement* replacement);

// FROM and WHERE of the level's query, as a derived table of keys and columns.
Query* make_source_of_keys(const Query* query, const Replacement& replacement);

// Puts the lists and the rows into the query.
void fill_list_join(Query* made, const Replacement& replacement, Query* source);

}  // namespace dpquantile
