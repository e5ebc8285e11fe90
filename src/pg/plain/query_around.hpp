#pragma once

#include "pg/query/level.hpp"

// Window functions and DISTINCT over the groups of a query level, as BI tools write them: shares of
// a total, ranks. They are computed of answers, so they belong into a query around the release
// block. In the level itself the validator would refuse them, because there they could be over
// rows.
namespace dpquantile {

// Whether a query level with aggregates has window functions or DISTINCT that can be put around it:
// it has no CTEs of its own and no subqueries in expressions.
bool has_query_around(const Query* query);

// Makes of such a level one that selects from a derived table with its keys and aggregates. Window
// functions, DISTINCT, ORDER BY, LIMIT and the expressions of the columns stay outside.
void put_query_around(Query* query);

// Gives a person group its plain form: SELECT DISTINCT becomes GROUP BY; expressions, HAVING, ORDER
// BY and LIMIT move to the level, which then selects from the group. Returns whether it could: not
// if there are subqueries, GROUPING() or dp_error_of() beside its keys and aggregates.
bool give_plain_form(Query* query);

// A copy of the query, one level below, that gives these columns: without DISTINCT, ORDER BY and
// LIMIT, which stay around it.
Query* query_below(const Query* query, List* columns);

// Makes the query select from this derived table only. Columns, ORDER BY and the like stay as they
// are. The derived table is one level below.
void select_from(Query* query, Query* table);

// A query that selects all columns of the query of a view. The entry that has the rights on the
// view, until PostgreSQL 15 the first of its query, is one of the new query then.
Query* select_all_from(Query* view);

// Puts a derived table of all its columns around a view in FROM, with what PostgreSQL checks for
// it.
void put_view_below(Query* query, RangeTblEntry* view);

// An entry of FROM. The columns of the query have names.
RangeTblEntry* derived_table(Query* query);

// The name that a query shows a column with, or that of the column which it is; null if it has
// none.
const char* name_of_column(const Query* query, const TargetEntry* column);

// A column of the first table in FROM, which has this column of a query.
Var* column_of_table(const TargetEntry* column);

// bool_or(condition) or bool_and(condition), by the OID of the aggregate: whether one of the rows
// of a group satisfies the condition, or each.
Node* aggregate_of_condition(Oid function, Node* condition);

}  // namespace dpquantile
