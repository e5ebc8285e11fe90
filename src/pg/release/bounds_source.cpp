#include "pg/release/bounds_source.hpp"

#include "pg/parameters/call_arguments.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
}

namespace dpquantile {

namespace {

bool may_read_data(Node* node, void* root);

// The planner of the uncorrelated subquery that sets a parameter of the query level, or null.
PlannerInfo* planner_of_subquery(const PlannerInfo* root, int parameter) {
  ListCell* cell;
  foreach (cell, root->init_plans) {
    const auto* subquery = static_cast<const SubPlan*>(lfirst(cell));
    if (!list_member_int(subquery->setParam, parameter)) continue;
    return static_cast<PlannerInfo*>(list_nth(root->glob->subroots, subquery->plan_id - 1));
  }
  return nullptr;
}

bool subquery_may_read_data(PlannerInfo* subquery) {
  auto* parse = reinterpret_cast<Node*>(subquery->parse);
  return contain_mutable_functions(parse) || may_read_data(parse, subquery);
}

bool is_of_data(const RangeTblEntry* entry) {
  return entry->rtekind == RTE_RELATION || entry->rtekind == RTE_CTE ||
         entry->rtekind == RTE_NAMEDTUPLESTORE;
}

bool entry_may_read_data(RangeTblEntry* entry, PlannerInfo* root) {
  switch (entry->rtekind) {
    case RTE_VALUES:
      return contain_mutable_functions(reinterpret_cast<Node*>(entry->values_lists)) ||
             may_read_data(reinterpret_cast<Node*>(entry->values_lists), root);
    case RTE_FUNCTION:
      return contain_mutable_functions(reinterpret_cast<Node*>(entry->functions)) ||
             may_read_data(reinterpret_cast<Node*>(entry->functions), root);
    case RTE_SUBQUERY:
      return entry->subquery == nullptr ||
             contain_mutable_functions(reinterpret_cast<Node*>(entry->subquery)) ||
             may_read_data(reinterpret_cast<Node*>(entry->subquery), root);
    default:
      return true;
  }
}

// Whether an expression of a query level, as a rule a column, may have been read from data.
bool column_may_read_data(const Node* column, PlannerInfo* root) {
  if (!IsA(column, Var)) return true;
  const int relation = reinterpret_cast<const Var*>(column)->varno;
  return entry_may_read_data(rt_fetch(relation, root->parse->rtable), root);
}

// Whether a parameter that an outer query sets may have been read from data.
bool outer_column_may_read_data(int parameter, const PlannerInfo* root) {
  for (PlannerInfo* outer = root->parent_root; outer != nullptr; outer = outer->parent_root) {
    ListCell* cell;
    foreach (cell, outer->plan_params) {
      const auto* item = static_cast<const PlannerParamItem*>(lfirst(cell));
      if (item->paramId == parameter) return column_may_read_data(item->item, outer);
    }
  }
  return true;
}

bool parameter_may_read_data(const Param* parameter, const PlannerInfo* root) {
  if (parameter->paramkind != PARAM_EXEC) return false;
  PlannerInfo* subquery = planner_of_subquery(root, parameter->paramid);
  return subquery == nullptr ? outer_column_may_read_data(parameter->paramid, root)
                             : subquery_may_read_data(subquery);
}

// For expression_tree_walker(); `root` is the planner of the query level.
bool may_read_data(Node* node, void* root) {
  if (node == nullptr) return false;
  if (IsA(node, RangeTblEntry)) return is_of_data(reinterpret_cast<RangeTblEntry*>(node));
  if (IsA(node, Query)) {
    return query_tree_walker(reinterpret_cast<Query*>(node), DPQ_TREE_WALKER(may_read_data), root,
                             QTW_EXAMINE_RTES_BEFORE);
  }
  if (IsA(node, Param)) {
    return parameter_may_read_data(reinterpret_cast<Param*>(node),
                                   static_cast<const PlannerInfo*>(root));
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(may_read_data), root);
}

// The number of the first bound, or of the options. (delta and max_groups are no bounds.)
int first_bound(const List* parameters, const FamilyRow& family) {
  const int count = list_length(parameters);
  const bool has_options = count > 0 && exprType(static_cast<Node*>(llast(parameters))) == JSONBOID;
  const bool has_bounds = family.after_epsilon == ArgumentsAfterEpsilon::kBounds ||
                          family.after_epsilon == ArgumentsAfterEpsilon::kBinBounds;
  const int after = has_bounds ? family.arguments_after_epsilon() : 0;
  return count - after - (has_options ? 1 : 0);
}

}  // namespace

void check_bounds_source(PlannerInfo* root, const Aggref* call, const FamilyRow& family) {
  const int rows = family.arguments_from_rows();
  List* parameters = parameter_expressions(call, rows);
  for (int i = first_bound(parameters, family); i < list_length(parameters); ++i) {
    if (!may_read_data(static_cast<Node*>(list_nth(parameters, i)), root)) continue;
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("the bounds of a private aggregate must not come from the data"),
             errdetail("Argument %d comes from a subquery or an outer query. A bound that is "
                       "the smallest or largest value tells this value exactly.",
                       rows + i + 1),
             errhint("Write a literal or a query parameter, from what is publicly known about "
                     "the values.")));
  }
}

}  // namespace dpquantile
