#pragma once

#include "pg/protect/query_level.hpp"

extern "C" {
#include "nodes/execnodes.h"
}

// Expressions without columns among those over protected rows, such as now() - interval '1 year' or
// $1. They may fail: PostgreSQL evaluates them before the first row is read, so an error does not
// depend on the rows.
namespace dpquantile {

// Checks an expression without columns, and computes it if it is constant. What is left is added to
// the statement's early expressions.
Node* early_expression(QueryLevel* level, Node* expression);

// The early expressions as the executor takes them.
List* plan_early_expressions(List* expressions);

// Evaluates planned early expressions. ereports what they report, and if a value is too large.
void evaluate_early_expressions(List* planned, EState* state);

}  // namespace dpquantile
