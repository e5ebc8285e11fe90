#pragma once

#include "pg/query/level.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/params.h"
}

// Expressions computed for one value of a part of theirs, while a query is planned. The keys of
// GROUP BY date_trunc('month', day) are the values of this function for the days between public
// bounds, computed here. They must depend on nothing but that: what a session could change until
// the query runs would give rows keys that the list does not have.
namespace dpquantile {

// Whether an expression can be computed then: beside these parts it has only constants and
// PostgreSQL's own functions that depend on nothing but their arguments and, for times, on the time
// zone and the style of dates.
bool can_be_evaluated(const Node* expression, const List* parts);

// An expression that is computed for many values of its parts, of which a list has 100000. Plain
// data.
struct PreparedExpression {
  Statement* statement;  // null: it is computed once
  double calls;          // of ordinary functions that one computation counts as
  Size empty_bytes;      // of the memory of a computation that has written nothing
  Expr* expression;
  ParamListInfo values;
  ExprState* state;
  ExprContext* context;
};

// Requires can_be_evaluated(). If the values depend on the time zone or the style of dates, the
// statement of the level notes that.
PreparedExpression prepare_expression(const Level* level, const Node* expression,
                                      const List* parts);

// The value for these constants, one for each part. NULL also if it fails. Valid until the next
// call. Can be interrupted. ereports if the statement computes too much, before a rule has judged
// what it computes for rows.
NullableDatum compute(const PreparedExpression& prepared, const List* values);

// Counts so many values that are kept for lists until the statement is planned as computations:
// each takes some 100 bytes. ereports as compute() does.
void count_kept_values(Statement* statement, double values);

// The same as a constant, which may be NULL.
Const* computed_constant(const PreparedExpression& prepared, const List* values);

// The same for one value, as a constant, or null. No part has a value if `inner` is null.
Const* evaluated(const Level* level, const Node* expression, const Node* inner, const Const* value);

// What PostgreSQL's planner makes of an expression with these values of parameters, or none if
// null.
Node* folded(const Node* expression, ParamListInfo parameters);

// Whether an expression without columns is computed and not NULL.
bool has_known_value(const Level* level, const Node* expression);

// A copy of the expression with another in the place of a part.
Node* with_part(const Node* expression, const Node* part, const Node* other);

// A copy of the one of `others` that stands for a node, as they stand for `nodes` in their order.
// Null if it is none of these.
Node* counterpart(const List* nodes, const List* others, const Node* node);

// Values of the type of an expression, each once: without those that are equal to others, in their
// order. NIL if the type has none. None may be NULL.
List* different_values(List* values, const Node* expression);

// Rows of constants of the types of these expressions, each once, in an order of their values. Each
// type has one.
List* different_rows(List* rows, const List* expressions);

// Those of these rows whose values are all in the lists, with the equal values that these have: a
// list of different values for each expression, NULL last. NULL equals NULL.
List* rows_in_lists(const List* rows, const List* expressions, const List* lists);

// A value of the type of a column as the column would have it: with the blanks of char(5), and the
// digits of numeric(8, 2). The value as it is where the column cannot have it.
Const* as_stored(const Node* column, const Const* value);

// Whether NULL is one of the values, which are constants.
bool has_null(const List* values);

// NULL of the type of an expression.
Const* null_like(const Node* expression);

// The values of an expression for those of a part of it, each once, without NULL. NIL if there are
// none, they are longer than those of a list may be, or it cannot be computed. `gives_null`:
// whether it is NULL, or fails, for a value of the part that is not NULL.
List* evaluated_list(const Level* level, const Node* expression, const Node* inner,
                     const List* values, bool* gives_null);

// The rows of what expressions are for the values of a part of all of them, each once; NULL where
// one fails. NIL if one cannot be computed.
List* evaluated_rows(const Level* level, const List* expressions, const Node* inner,
                     const List* values);

// The values of an expression for all combinations of those of its parts, each once, and NULL if it
// is NULL, or fails, for one. Requires can_be_evaluated(). `lists`: List of List of Const, one for
// each part.
List* evaluated_combinations(const Level* level, const Node* expression, const List* parts,
                             const List* lists);

}  // namespace dpquantile
