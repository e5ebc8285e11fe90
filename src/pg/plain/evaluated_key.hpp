#pragma once

#include "pg/query/level.hpp"

// Expressions computed for one value of a part of theirs, while a query is planned. The keys of
// GROUP BY date_trunc('month', day) are the values of this function for the days between public
// bounds, computed here. They must depend on nothing but that: what a session could change until
// the query runs would give rows keys that the list does not have.
namespace dpquantile {

// Whether an expression can be computed then: of its parts, `inner` aside, only constants and
// PostgreSQL's own functions that depend on nothing but their arguments and, for times, on the time
// zone.
bool can_be_evaluated(const Node* expression, const Node* inner);

// The value with `value` in the place of `inner`. Null if it is NULL or fails. Requires
// can_be_evaluated(). If it depends on the time zone, the statement of the level notes that.
Const* evaluated(const Level* level, const Node* expression, const Node* inner, const Const* value);

// A copy of the expression with another in the place of a part.
Node* with_part(const Node* expression, const Node* part, const Node* other);

// A copy of the one of `others` that stands for a node, as they stand for `nodes` in their order.
// Null if it is none of these.
Node* counterpart(const List* nodes, const List* others, const Node* node);

// The values of an expression of one part with a list and constants, each once; NIL if one of them
// fails, or if there are too many.
List* evaluated_list(const Level* level, const Node* expression, const Node* inner,
                     const List* values);

}  // namespace dpquantile
