#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// Window functions and DISTINCT ON over the rows of each person, as people write them, in the form
// that the rules know: a level with columns and window functions alone (has_plain_windows of
// pg/query/level.hpp), and one around it that computes and chooses.
namespace dpquantile {

// Makes the level select from one with its window functions, the columns that it uses and the keys
// of the windows. Expressions, DISTINCT, ORDER BY and LIMIT stay outside. Returns whether it could:
// not if there are subqueries in expressions.
bool put_windows_below(Query* query);

// DISTINCT ON: the rows of which row_number() is 1 in the rows with these keys. Returns whether it
// could, as above.
bool pick_first_rows(Query* query);

}  // namespace dpquantile
