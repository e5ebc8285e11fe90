#include "pg/release/parameter_source.hpp"

#include "pg/parameters/call_arguments.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/parameters/public_functions.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
}

namespace dpquantile {

namespace {

bool may_read_data(const Node* tree, const PlannerInfo* root);

// The planner of the uncorrelated subquery that sets a parameter of the query level, or null.
PlannerInfo* planner_of_subquery(const PlannerInfo* root, int parameter) {
  for (const auto* subquery : each<const SubPlan>(root->init_plans)) {
    if (!list_member_int(subquery->setParam, parameter)) continue;
    return static_cast<PlannerInfo*>(list_nth(root->glob->subroots, subquery->plan_id - 1));
  }
  return nullptr;
}

bool subquery_may_read_data(const PlannerInfo* subquery) {
  auto* parse = as<Node>(subquery->parse);
  return calls_changing_functions(parse) || may_read_data(parse, subquery);
}

bool is_of_data(const RangeTblEntry* entry) {
  return entry->rtekind == RTE_RELATION || entry->rtekind == RTE_CTE ||
         entry->rtekind == RTE_NAMEDTUPLESTORE;
}

// `levels_up`: how far above the contents the query level of the entry is. LATERAL contents read
// columns of other entries.
bool contents_may_read_data(Node* contents, int levels_up, const PlannerInfo* root) {
  return contents == nullptr || contain_vars_of_level(contents, levels_up) ||
         calls_changing_functions(contents) || may_read_data(contents, root);
}

bool entry_may_read_data(const RangeTblEntry* entry, const PlannerInfo* root) {
  switch (entry->rtekind) {
    case RTE_VALUES:
      return contents_may_read_data(as<Node>(entry->values_lists), 0, root);
    case RTE_FUNCTION:
      return contents_may_read_data(as<Node>(entry->functions), 0, root);
    case RTE_SUBQUERY:
      return contents_may_read_data(as<Node>(entry->subquery), 1, root);
    default:
      return true;
  }
}

bool has_private_call(const List* columns) {
  return any_node(columns, [](const Node* node) { return private_family(node) != nullptr; });
}

bool is_exact(const TargetEntry* column) {
  auto* expression = as<Node>(column->expr);
  return !column->resjunk && !IsA(expression, Const) && private_family(expression) == nullptr;
}

// A subquery in FROM with nothing but private answers, or one that depends on the outer query, such
// as that of the call.
bool answers_privately(const RangeTblEntry* entry) {
  Query* query = entry->rtekind == RTE_SUBQUERY ? entry->subquery : nullptr;
  if (query == nullptr) return false;
  if (!has_private_call(query->targetList)) return false;
  if (contain_vars_of_level(as<Node>(query), 1)) return true;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (is_exact(column)) return false;
  }
  return query->groupClause == NIL && query->havingQual == nullptr;
}

bool joins_data(const PlannerInfo* root) {
  return any_node(root->parse->jointree, [&](const Node* node) {
    if (!IsA(node, RangeTblRef)) return false;
    const auto* entry = rt_fetch(as<RangeTblRef>(node)->rtindex, root->parse->rtable);
    if (entry->rtekind == RTE_RESULT) return false;
    return !answers_privately(entry) && entry_may_read_data(entry, root);
  });
}

// Whether data may decide which rows the query level has: a join with data, a condition, or LIMIT.
bool data_may_choose_rows(const PlannerInfo* root) {
  const Query* query = root->parse;
  if (joins_data(root)) return true;
  auto* from = as<Node>(query->jointree);
  for (Node* condition : {from, query->havingQual, query->limitCount, query->limitOffset}) {
    if (calls_changing_functions(condition) || may_read_data(condition, root)) return true;
  }
  return false;
}

// Whether a column of a query level may have been read from data.
bool column_may_read_data(const Node* column, const PlannerInfo* root) {
  return !IsA(column, Var) || data_may_choose_rows(root);
}

// Whether a parameter that an outer query sets may have been read from data.
bool outer_column_may_read_data(int parameter, const PlannerInfo* root) {
  for (const PlannerInfo* outer = root->parent_root; outer != nullptr; outer = outer->parent_root) {
    for (const auto* item : each<const PlannerParamItem>(outer->plan_params)) {
      if (item->paramId == parameter) return column_may_read_data(item->item, outer);
    }
    // A level in between decides whether the call is executed for the row.
    if (data_may_choose_rows(outer)) return true;
  }
  return true;
}

bool parameter_may_read_data(const Param* parameter, const PlannerInfo* root) {
  if (parameter->paramkind != PARAM_EXEC) return false;
  PlannerInfo* subquery = planner_of_subquery(root, parameter->paramid);
  return subquery == nullptr ? outer_column_may_read_data(parameter->paramid, root)
                             : subquery_may_read_data(subquery);
}

// `root` is the planner of the query level.
bool may_read_data(const Node* tree, const PlannerInfo* root) {
  const auto reads = [&](const Node* node) {
    if (IsA(node, RangeTblEntry)) return is_of_data(as<RangeTblEntry>(node));
    if (IsA(node, Param)) return parameter_may_read_data(as<Param>(node), root);
    return IsA(node, SubPlan);
  };
  return any_node(tree, reads, kIntoQueries | QTW_EXAMINE_RTES_BEFORE);
}

}  // namespace

void check_parameters_source(PlannerInfo* root, const Aggref* call, const FamilyRow& family) {
  const int rows = family.arguments_from_rows();
  List* parameters = parameter_expressions(call, rows);
  for (int i = 0; i < list_length(parameters); ++i) {
    if (!may_read_data(static_cast<Node*>(list_nth(parameters, i)), root)) continue;
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("the parameters of a private aggregate must not come from the data"),
             errdetail("Argument %d comes from a subquery or an outer query that may read data. A "
                       "bound that is the smallest or largest value reveals this value exactly.",
                       rows + i + 1),
             errhint("Write a literal or a query parameter, from what is publicly known about the "
                     "values. If nothing is, find bounds by a query before: SELECT "
                     "dp_learn_bounds(x, 0.5) FROM t.")));
  }
}

}  // namespace dpquantile
