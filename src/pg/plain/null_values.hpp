#pragma once

#include "pg/query/level.hpp"

// What may be NULL, by what catalogs and query say: NOT NULL of columns, outer joins, conditions.
// No row is looked at.
namespace dpquantile {

// Whether a column of a table is NOT NULL, also in all children of the table.
bool is_stated_not_null(const ColumnOrigin& column);

// Whether an outer join in FROM of a level may put NULLs in the place of an entry's rows.
bool may_be_absent(const Level* level, int entry);

// Whether an expression may be NULL in a row that WHERE lets pass. True if nothing says that it is
// not. Functions are taken to give NULL for NULL alone.
bool may_be_null(const Level* level, Node* expression);

}  // namespace dpquantile
