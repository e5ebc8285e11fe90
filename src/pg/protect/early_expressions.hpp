#pragma once

#include "pg/protect/judged_level.hpp"

// Expressions without columns among those over protected rows, such as now() - interval '1 year' or
// $1. They may fail: PostgreSQL evaluates them before the first row is read, so an error does not
// depend on the rows. For a row it takes their values (early_values.hpp).
namespace dpquantile {

// Checks an expression without columns. Returns its value if that is known now. Otherwise adds it
// to the statement's early expressions, and returns the parameter that will have its value.
Node* early_expression(JudgedLevel* level, Node* expression);

// The same for an expression that has been checked.
Node* early_value(JudgedStatement* statement, Node* checked);

// The number of an early value, from 0. A parameter of the query itself has one, too.
int number_of_early(const JudgedStatement* statement, const Param* parameter);

// A copy of an expression in which the planner will have computed what is constant, also with the
// values of the query's parameters if the plan is only for these.
Node* as_planned(const JudgedStatement* statement, const Node* expression);

// ereports if a constant that protected rows are compared with is too large.
void check_constant(const JudgedLevel* level, const Const* constant, int location);

// The early expressions as the executor takes them.
List* plan_early_expressions(List* expressions);

}  // namespace dpquantile
