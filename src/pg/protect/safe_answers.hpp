#pragma once

#include "pg/protect/judged_level.hpp"

// What is computed of answers does not fail: where PostgreSQL would raise an error, such as a
// division by a count that noise has made 0, the value is NULL. An error would take all answers of
// a query that has been charged. What cannot be made so is refused before the charge. Errors tell
// nothing of rows there, so this is a service and no rule of privacy.
namespace dpquantile {

// Makes safe what a release block computes of its keys and of the answers of its private
// aggregates. ereports if it cannot make something safe.
void make_answers_safe(JudgedLevel* level);

// The same for an expression of earlier answers that rows are compared with.
Node* safe_expression(const JudgedLevel* level, Node* expression);

// Makes safe what an outer query computes, unless it computes with public values alone. ereports as
// above.
void make_outer_query_safe(JudgedLevel* level);

}  // namespace dpquantile
