#include "pg/protect/outside.hpp"

#include "pg/protect/code_of_types.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/allowed_nodes.hpp"
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
}

namespace dpquantile {

namespace {

constexpr char kFunctionHint[] =
    "Use functions and operators of PostgreSQL that are not volatile. Compute the rest from the "
    "answers, in a query of its own.";

constexpr char kNodeHint[] =
    "Use columns, constants, comparisons, AND, OR, NOT, CASE and PostgreSQL's functions that "
    "cannot fail.";
constexpr char kSubqueryHint[] =
    "Join the table by its key. Of protected rows ask an aggregate, such as (SELECT avg(age) FROM "
    "staff). Or ask the subquery first, and write its answer into this query.";
constexpr char kRowsHint[] =
    "For IN and NOT IN of several columns write EXISTS and NOT EXISTS: NOT EXISTS (SELECT FROM "
    "department d WHERE d.name = city AND d.floor = age).";
constexpr char kDomainHint[] = "Cast to the domain's base type.";

// Whether a subquery is compared with several columns.
bool compares_rows(const Node* node) {
  const auto* link = as<SubLink>(node);
  if (!IsA(node, SubLink) || link->testexpr == nullptr || !IsA(link->testexpr, BoolExpr)) {
    return false;
  }
  return link->subLinkType == ALL_SUBLINK || link->subLinkType == ANY_SUBLINK;
}

[[noreturn]] void refuse_function(const JudgedLevel* level, const Node* node, Oid function) {
  const bool is_volatile = func_volatile(function) == PROVOLATILE_VOLATILE;
  refuse(level->statement->refused, exprLocation(node),
         psprintf("function %s is not supported here: it %s", format_procedure(function),
                  is_volatile ? "is volatile" : "runs what its arguments name"),
         kFunctionHint);
}

void check_domain(const JudgedLevel* level, const Node* node) {
  const Oid type = as<CoerceToDomain>(node)->resulttype;
  if (passes_gate(TypeRelationId, type)) return;
  refuse(level->statement->refused, exprLocation(node),
         psprintf("casts to domain %s are not supported here: they may call functions of the "
                  "domain's owner",
                  format_type_be(type)),
         kDomainHint);
}

void check_types(const JudgedLevel* level, Node* node) {
  const Oid type = type_with_code(level, node);
  if (!OidIsValid(type)) return;
  const Node* at = IsA(node, RangeTblFunction) ? as<RangeTblFunction>(node)->funcexpr : node;
  refuse(level->statement->refused, exprLocation(at),
         get_typtype(type) == TYPTYPE_PSEUDO
             ? psprintf(
                   "values of type %s are not supported here: they may contain values of any type",
                   format_type_be(type))
             : psprintf("values of type %s are not supported here: a cast or function may run code "
                        "of the type's owner",
                        format_type_be(type)),
         "Use values of PostgreSQL's own types, or rows of a derived table with such columns. Or "
         "convert the answers in a query of its own.");
}

void check_sublink(JudgedLevel* level, SubLink* sublink, SubqueryCheck check) {
  count_node(level->statement, as<Node>(sublink));
  if (check == nullptr) refuse_node(level, as<Node>(sublink));
  check_outside(level, sublink->testexpr, check);
  check(level, sublink);
}

}  // namespace

void count_node(JudgedStatement* statement, const Node* node, int weight) {
  statement->node_count += weight;
  require_few_nodes(statement->refused, statement->node_count, exprLocation(node));
}

void refuse_node(const JudgedLevel* level, const Node* node) {
  if (IsA(node, NamedArgExpr)) {
    refuse(level->statement->refused, exprLocation(node),
           "named arguments are not supported over protected rows",
           "Write the arguments by position.");
  }
  const NodeRule* rule = find_node_rule(node);
  const char* reason =
      rule == nullptr
          ? psprintf("an unknown kind of expression (%d) is not supported over protected rows",
                     static_cast<int>(nodeTag(node)))
          : psprintf("%s is not supported here: it %s", rule->what, rule->reason);
  refuse(level->statement->refused, exprLocation(node), reason,
         compares_rows(node)         ? kRowsHint
         : IsA(node, SubLink)        ? kSubqueryHint
         : IsA(node, CoerceToDomain) ? kDomainHint
                                     : kNodeHint);
}

void check_node_outside(JudgedLevel* level, Node* node) {
  count_node(level->statement, node);
  if (find_node_rule(node) == nullptr) refuse_node(level, node);
  if (IsA(node, CoerceToDomain)) check_domain(level, node);
  const Oid other = find_other_function(node, is_outside_function);
  if (OidIsValid(other)) refuse_function(level, node, other);
  check_types(level, node);
}

void check_outside(JudgedLevel* level, Node* expression, SubqueryCheck subquery) {
  const RefusedQuery& refused = level->statement->refused;
  const int before = count_reasons(refused);
  bool passes_all = true;
  (void)search(expression, [&](Node* node) {
    const bool is_sublink = IsA(node, SubLink);
    const bool passes = attempt(level, [&] {
      if (is_sublink) return check_sublink(level, as<SubLink>(node), subquery);
      if (!IsA(node, List)) check_node_outside(level, node);
    });
    passes_all = passes_all && passes;
    return passes && !is_sublink ? Look::kBelow : Look::kPast;
  });
  if (!passes_all || count_reasons(refused) > before) end_check_after_refusals();
}

}  // namespace dpquantile
