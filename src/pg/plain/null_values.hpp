#pragma once

#include "pg/plain/calls_with_value.hpp"
#include "pg/query/level.hpp"

// What may be NULL, by what catalogs and query say: NOT NULL of columns, foreign keys, outer joins,
// conditions.
// No row is looked at.
namespace dpquantile {

// Whether a column of a table is NOT NULL, also in all children of the table.
bool is_stated_not_null(const ColumnOrigin& column);

// The condition of the outer join that adds an entry of FROM alone to rows, or null: other rows of
// the entry are joined with none.
const Node* condition_of_outer_join(const Query* query, int entry);

// Whether an outer join in FROM of a level may put NULLs in the place of an entry's rows, in a row
// that WHERE lets pass. Not where a foreign key says that the join finds a row of a public table.
bool may_be_absent(const Level* level, int entry);

// Whether a foreign key says that the outer join that adds a public table to rows finds a row of it
// for each of them whose columns in the join are not NULL.
bool finds_row_of_reference(const Level* level, int entry);

// Whether an expression may be NULL in a row that WHERE lets pass. True if nothing says that it is
// not: what is never NULL of values is a list (calls_with_value.hpp).
bool may_be_null(const Level* level, Node* expression, TimesOf times = TimesOf::kAny);

}  // namespace dpquantile
