#pragma once

#include "pg/query/level.hpp"

// What WHERE says about the keys of groups. A list of keys has all values, also those that a
// condition rules out: WHERE day >= '2024-01-01' GROUP BY month would show the months before, each
// with an answer of pure noise. Conditions on keys alone are public, so their groups may be left
// out.
namespace dpquantile {

// Conditions on the public list of keys that follow from WHERE, so that groups without any row that
// may count are left out: terms about keys alone, and, where a key never falls while a column
// grows, as date_trunc does, terms that compare the column with something constant, and joins with
// VALUES. `new_keys` are
// the columns of the list, in the order of `keys` of the level. A list of terms.
List* key_conditions(const Level* level, const List* keys, const List* new_keys);

// Whether a key is known never to fall while a column grows.
bool never_falls(const Node* key, const Node* column);

// The terms that all rows of the level fulfil: of WHERE, and of inner joins that no outer join may
// make NULL.
List* terms_of_all_rows(const Level* level);

// The constants that a term says an expression is one of: key = 1, key IN (1, 2), or either with OR
// between. Constants of the type of the expression, each once, none NULL; NIL if it does not.
List* values_in_term(const Level* level, Node* key, const Node* term);

// Those of the column of VALUES with which a left join compares an expression by =, where a
// condition says that the row has found one: list.x IS NOT NULL. NIL if it does not.
List* values_of_match(const Level* level, Node* key, const Node* condition);

// Those of the first such term of the level.
List* values_in_terms(const Level* level, Node* key);

// What key_conditions() gives, of the conditions of the queries in FROM whose columns the keys are
// computed of. No outer join may add rows to theirs.
List* key_conditions_below(const Level* level, const List* keys, const List* new_keys);

}  // namespace dpquantile
