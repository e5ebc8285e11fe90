#pragma once

#include "pg/grants/refusal.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

// Tables that have rows in common by partitions and inheritance. The rows of a child are those of
// its parents. Each of these tables may be protected by itself, and protects the persons of one
// column. A query of one of them must protect whom the others protect. Only catalogs decide.
namespace dpquantile {

// Whether a row may be a row of both tables, now or later: they are the same, or have a child in
// common, or one is a child of the other.
bool share_rows(Oid one, Oid other);

// Refuses a query that reads the table and protects the persons of this column of it (empty: each
// row), or those of the rows of `through` to which it refers, if a protected table with the same
// rows protects other persons. A column has the same name in parents and children. If the table is
// a materialized view, its rows are also those of what it reads: the column must show their user
// column, or one of the same unit.
void check_users_of_shared_rows(const RefusedQuery& query, Oid table, const char* user_column,
                                Oid through);

// The protected table with rows in common because of which a query of a materialized view, of a
// view of one, or of a view of a table that is protected through another one, is refused, if it
// protects the persons of this column of the view (empty: each row).
Oid table_with_other_users(Oid view, const char* user_column);

// Refuses a join of the table with others of a unit of this owner, if a protected table with the
// same rows is not of the unit.
void check_unit_of_shared_rows(const RefusedQuery& query, Oid table, const char* unit, Oid owner);

}  // namespace dpquantile
