#pragma once

#include "pg/plain/value_bounds.hpp"
#include "pg/query/level.hpp"

// The public lists of the values that keys of GROUP BY may have. All of these values appear in the
// answer, also those without rows, so that it does not tell which keys occur. If a list were not
// complete, rows would be left out, and if it came from the rows, it would tell of them.
namespace dpquantile {

// Which lists are looked for: not of keys of public tables, or those that are read from these, too.
enum class Lists { kStated, kAll };

// The values of a key as constants: of a column with a list of keys, truth values or labels of an
// enum; of functions of times (time_keys.hpp); of roundings of a number with bounds, buckets, CASE
// with constant results or keys with lists, and conditions; few whole numbers or dates between the
// bounds of whatever expression (value_bounds.hpp); of columns of public tables, and those that
// refer to one (table_keys.hpp); of an expression of these and constants; the constants that WHERE
// says a key without such a list is one of. Each value once. NULL is one of them if the owner has
// listed it, a CASE has it as a result, a column that refers may be NULL, or an expression gives it
// for a value of the list. NIL if there is no such list, or if it has more than kMaxElements values
// and no owner has stated it.
List* public_values_of(const Level* level, Node* key, Lists lists = Lists::kAll);

// Whether this list may lack the key of a person with more rows than the owner states: the number
// of rows itself, or what is computed of it without bounds of its own, as least(n, 30) has.
bool lacks_many_rows(const Level* level, Node* key);

// The whole numbers or dates between the bounds of a column; NIL if it has none, or there are more
// than `most`.
List* values_between_bounds(const Level* level, Node* column, BoundsFor use, int most);

// public_values_of() for a column of a relation, in a query of all of its rows, without lists of
// other tables. ereports if the relation or the column is gone.
List* public_values_of_column(Oid relation, const char* column);

// The same as an answer shows them: of values that are equal and look different, as 1.0 and 1.00 in
// CASE, one.
List* shown_values_of(const Level* level, Node* key, Lists lists = Lists::kAll);

// The one of these values that stands for all other values of the key: what the owner has stated
// for the list of a column, or what an expression gives for that. Null if there is none.
const Const* other_value_of(const Level* level, Node* key);

}  // namespace dpquantile
