#include "pg/protect/early_expressions.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/protect/lasting_type.hpp"
#include "pg/protect/long_types.hpp"
#include "pg/protect/outside.hpp"
#include "pg/reuse/query_identity.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// No function reads a value of such a type for a row, such as json, so nothing counts its bytes.
constexpr Size kMostUncountedBytes = 1024;

void check_type(const JudgedLevel* level, const Node* expression) {
  const Oid type = exprType(expression);
  if (is_inside_type(type) && is_lasting_type(level, type)) return;
  refuse(level->statement->refused, exprLocation(expression),
         psprintf("values of type %s cannot be compared with protected rows", format_type_be(type)),
         "Use values of PostgreSQL's own types.");
}

void check_one_value(const JudgedLevel* level, Node* expression) {
  if (!expression_returns_set(expression)) return;
  refuse(level->statement->refused, exprLocation(expression),
         "a set-returning function is part of an expression over protected rows",
         "Join its values: FROM unnest(...).");
}

// Computes what is immutable.
Node* fold(Node* expression) {
  return IsA(expression, Const) ? expression : eval_const_expressions(nullptr, expression);
}

// With the values of the query's parameters, if the plan is only for these. The planner sees each
// parameter alone: of a column PostgreSQL 19 would look up whether its table, in the range table of
// a query, lets it be NULL.
Node* with_parameters(PlannerInfo* root, Node* expression) {
  if (expression == nullptr) return nullptr;
  if (IsA(expression, Param)) return eval_const_expressions(root, expression);
  return with_children(expression, [&](Node* child) { return with_parameters(root, child); });
}

Node* fold_parameters(const JudgedStatement* statement, Node* expression) {
  if (IsA(expression, Const) || statement->parameters == nullptr) return expression;
  PlannerGlobal* global = makeNode(PlannerGlobal);
  global->boundParams = statement->parameters;
  PlannerInfo* root = makeNode(PlannerInfo);
  root->glob = global;
  return eval_const_expressions(nullptr, with_parameters(root, expression));
}

// A value that has been computed from the query's parameters
Node* known_value(JudgedStatement* statement, Node* folded) {
  auto* known = as<Const>(folded);
  if (!known->constisnull) {
    check_value_size(known->constvalue, known->consttype);
    known->constvalue = value_in_memory(known->constvalue, known->consttype);
  }
  statement->known = lappend(statement->known, folded);
  return folded;
}

// Equal expressions have one number, because equal aggregates are charged once.
int number_of(JudgedStatement* statement, Node* expression, const Node* original) {
  ListCell* cell;
  foreach (cell, statement->early) {
    if (equal(expression, lfirst(cell))) return foreach_current_index(cell) + 1;
  }
  statement->early = lappend(statement->early, expression);
  const SecretHash identity = identity_of_expression(original);
  statement->identities = lappend(statement->identities, makeString(text_of_hash(identity)));
  return list_length(statement->early);
}

// The parameter that will have the value of an expression. `original` is the expression before it
// was computed as far as possible, which is the same in each plan of the query.
Node* make_early(JudgedStatement* statement, Node* expression, const Node* original) {
  const int number = number_of(statement, expression, original);
  // A parameter of the query has its value already, which the planner may know.
  if (IsA(expression, Param)) return expression;
  Param* parameter = makeNode(Param);
  parameter->paramkind = PARAM_EXTERN;
  parameter->paramid = statement->own_parameters + number;
  parameter->paramtype = exprType(expression);
  parameter->paramtypmod = exprTypmod(expression);
  parameter->paramcollid = exprCollation(expression);
  parameter->location = exprLocation(expression);
  return as<Node>(parameter);
}

}  // namespace

Node* as_planned(const JudgedStatement* statement, const Node* expression) {
  return fold_parameters(statement, fold(static_cast<Node*>(copyObjectImpl(expression))));
}

void check_constant(const JudgedLevel* level, const Const* constant, int location) {
  const Size most = has_any_length(constant->consttype) ? kMaxValueBytes : kMostUncountedBytes;
  if (constant->constisnull || !is_too_large(constant->constvalue, constant->consttype, most)) {
    return;
  }
  refuse_with_code(level->statement->refused, ERRCODE_PROGRAM_LIMIT_EXCEEDED, location,
                   psprintf("a constant has more than %d elements or %d bytes", kMaxElements,
                            static_cast<int>(most)),
                   kSizeHint);
}

Node* early_expression(JudgedLevel* level, Node* expression) {
  const int location = exprLocation(expression);
  check_type(level, expression);
  check_one_value(level, expression);
  check_outside(level, expression, nullptr);
  Node* folded = fold(expression);
  if (IsA(folded, Const)) {
    check_constant(level, as<Const>(folded), location);
    return folded;
  }
  folded = fold_parameters(level->statement, folded);
  if (!IsA(folded, Const)) return make_early(level->statement, folded, expression);
  return known_value(level->statement, folded);
}

Node* early_value(JudgedStatement* statement, Node* checked) {
  Node* folded = fold_parameters(statement, fold(checked));
  if (IsA(folded, Param)) return folded;
  if (!IsA(folded, Const)) return make_early(statement, folded, checked);
  return known_value(statement, folded);
}

int number_of_early(const JudgedStatement* statement, const Param* parameter) {
  if (parameter->paramid > statement->own_parameters) {
    return parameter->paramid - statement->own_parameters - 1;
  }
  const ListCell* cell;
  foreach (cell, statement->early) {
    if (equal(lfirst(cell), parameter)) return foreach_current_index(cell);
  }
  ereport(ERROR,
          (errcode(ERRCODE_INTERNAL_ERROR), errmsg("a parameter has no value before the rows")));
}

List* plan_early_expressions(List* expressions) {
  List* planned = NIL;
  ListCell* cell;
  foreach (cell, expressions) {
    auto* expression = static_cast<Expr*>(copyObjectImpl(lfirst(cell)));
    planned = lappend(planned, expression_planner(expression));
  }
  return planned;
}

}  // namespace dpquantile
