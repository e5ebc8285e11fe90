#include "pg/vocabulary/allowed_nodes.hpp"

namespace dpquantile {

namespace {

constexpr bool kYes = true;
constexpr bool kNo = false;

// clang-format off
constexpr NodeRule kRules[] = {
    // kind                what it is called          inside why, or on which condition
    {T_Const,             "a constant",               kYes, "of limited size, because its size decides how long a comparison takes"},
    {T_Param,             "a parameter",              kYes, "of limited size, checked before the first row"},
    {T_Var,               "a column",                 kYes, "inside: of a built-in type, no system column, no whole row"},
    {T_List,              "a list",                   kYes, "of the expressions in it"},
    {T_BoolExpr,          "AND, OR or NOT",           kYes, "cannot fail"},
    {T_NullTest,          "IS NULL",                  kYes, "cannot fail"},
    {T_BooleanTest,       "IS TRUE",                  kYes, "cannot fail"},
    {T_RelabelType,       "a binary coercion",        kYes, "changes no bit"},
    {T_CollateExpr,       "COLLATE",                  kYes, "inside: a built-in deterministic collation"},
    {T_CaseExpr,          "CASE",                     kYes, "chooses between values"},
    {T_CaseWhen,          "WHEN",                     kYes, "chooses between values"},
    {T_CaseTestExpr,      "the operand of CASE",      kYes, "is the value that was computed before"},
    {T_CoalesceExpr,      "COALESCE",                 kYes, "chooses between values"},
    {T_FuncExpr,          "a function",               kYes, "inside: a total function; outside: PostgreSQL's own or of this extension"},
    {T_OpExpr,            "an operator",              kYes, "as its function"},
    {T_DistinctExpr,      "IS DISTINCT FROM",         kYes, "as the function of ="},
    {T_NullIfExpr,        "NULLIF",                   kYes, "as the function of ="},
    {T_ScalarArrayOpExpr, "IN, ANY or ALL",           kYes, "as its function; the array is of limited size"},
    {T_MinMaxExpr,        "GREATEST or LEAST",        kYes, "as the comparison of the type"},
    {T_CoerceViaIO,       "a cast by text",           kYes, "as the output and the input function"},
    {T_ArrayExpr,         "ARRAY[...]",               kYes, "inside: of limited size"},
    {T_SubscriptingRef,   "a subscript",              kYes, "inside: an element of an array, NULL outside of its bounds"},

    {T_SQLValueFunction,  "CURRENT_DATE or the like", kNo, "is evaluated before the first row, not for each row"},
    {T_Aggref,            "an aggregate",             kNo, "would be an exact answer"},
    {T_WindowFunc,        "a window function",        kNo, "lets one row change the values of many"},
    {T_GroupingFunc,      "GROUPING()",               kNo, "needs grouping sets"},
    {T_SubLink,           "a subquery",               kNo, "would run for each row, or read rows without noise"},
    {T_ArrayCoerceExpr,   "a cast of an array",       kNo, "may fail for an element"},
    {T_RowExpr,           "a row",                    kNo, "has a type of its own"},
    {T_RowCompareExpr,    "a comparison of rows",     kNo, "calls a function for each column"},
    {T_FieldSelect,       "a field of a row",         kNo, "needs a row, which has a type of its own"},
    {T_ConvertRowtypeExpr,"a whole row of a child",   kNo, "has a type of its own"},
    {T_CoerceToDomain,    "a cast to a domain",       kNo, "may fail, and calls functions of the domain's owner"},
    {T_NamedArgExpr,      "a named argument",         kNo, "stands for its value in a function call with names"},

    // Parts of a query around its expressions.
    {T_TargetEntry,       "an output column",         kNo, "as its expression"},
    {T_FromExpr,          "FROM",                     kNo, "as its conditions"},
    {T_JoinExpr,          "a join",                   kNo, "as its conditions"},
    {T_RangeTblRef,       "a table in FROM",          kNo, "is looked at in the range table"},
    {T_SortGroupClause,   "a sort or group key",      kNo, "PostgreSQL's own operators"},
    {T_GroupingSet,       "a grouping set",           kNo, "as the keys"},
    {T_WindowClause,      "WINDOW",                   kNo, "as its keys and bounds"},
    {T_SetOperationStmt,  "UNION or the like",        kNo, "as its keys"},
    {T_RangeTblFunction,  "a function in FROM",       kNo, "as the function"},
    {T_TableSampleClause, "TABLESAMPLE",              kNo, "outside: of what the user may read"},
};
// clang-format on

}  // namespace

const NodeRule* find_node_rule(const Node* node) {
  for (const NodeRule& rule : kRules) {
    if (rule.tag == nodeTag(node)) return &rule;
  }
  return nullptr;
}

bool is_allowed_inside(const Node* node) {
  const NodeRule* rule = find_node_rule(node);
  return rule != nullptr && rule->inside;
}

}  // namespace dpquantile
