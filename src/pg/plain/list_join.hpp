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

// Keys that have their values together (table_keys.hpp, shared_parts.hpp), or one key with its
// list.
struct Factor {
  List* numbers;  // int: which of the keys
  List* rows;     // List of List of Const
};

struct Replacement : RowsBelow {
  List* factors;         // Factor: each key in one; the rows that conditions on their keys leave in
  List* whole_lists;     // for each key all of its public values
  Bitmapset* of_tables;  // the numbers of the keys whose lists have all that rows may have
  Bitmapset* of_stages;  // those among them whose lists are rows of stages, or made up for a trial
  Bitmapset* nulls;      // the numbers of the keys with NULL in their lists
  List* substitutes;     // for each key a value of its list that is not NULL
  List* others;          // for each key the value of its list that stands for all others, or null
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

// Calls `use` with each combination of the rows of the factors, until it returns false. The row has
// a constant for each key, and changes from call to call.
template <class Use>
void each_combination(const Replacement& replacement, Use use) {
  List* row = NIL;
  for (int key = 0; key < list_length(replacement.keys); ++key) row = lappend(row, nullptr);
  const int factors = list_length(replacement.factors);
  auto* next = static_cast<int*>(palloc0(static_cast<Size>(factors + 1) * sizeof(int)));
  const auto rows_of = [&](int number) {
    return static_cast<const Factor*>(list_nth(replacement.factors, number))->rows;
  };
  const auto take = [&](int number) {
    const auto* factor = static_cast<const Factor*>(list_nth(replacement.factors, number));
    const auto* values = static_cast<const List*>(list_nth(factor->rows, next[number]));
    for (int i = 0; i < list_length(factor->numbers); ++i) {
      lfirst(list_nth_cell(row, list_nth_int(factor->numbers, i))) = list_nth(values, i);
    }
  };
  for (int number = 0; number < factors; ++number) {
    if (rows_of(number) == NIL) return;
    take(number);
  }
  for (int number = 0; number >= 0;) {
    CHECK_FOR_INTERRUPTS();
    if (!use(row)) return;
    for (number = factors - 1; number >= 0; --number) {
      next[number] = (next[number] + 1) % list_length(rows_of(number));
      take(number);
      if (next[number] > 0) break;
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
