#include "pg/server/plan_children.hpp"

#include "pg/server/nodes.hpp"

namespace dpquantile {

namespace {

void visit_list(const List* plans, ChildVisitor visit, void* context) {
  ListCell* cell;
  foreach (cell, plans) visit(reinterpret_cast<Plan**>(&lfirst(cell)), context);
}

}  // namespace

void visit_children(Plan* node, ChildVisitor visit, void* context) {
  if (node->lefttree != nullptr) visit(&node->lefttree, context);
  if (node->righttree != nullptr) visit(&node->righttree, context);
  switch (nodeTag(node)) {
    case T_Append:
      return visit_list(reinterpret_cast<Append*>(node)->appendplans, visit, context);
    case T_MergeAppend:
      return visit_list(reinterpret_cast<MergeAppend*>(node)->mergeplans, visit, context);
    case T_SubqueryScan:
      return visit(&as<SubqueryScan>(node)->subplan, context);
    case T_CustomScan:
      return visit_list(as<CustomScan>(node)->custom_plans, visit, context);
    default:
      return;
  }
}

void visit_trees(PlannedStmt* plan, ChildVisitor visit, void* context) {
  visit(&plan->planTree, context);
  ListCell* cell;
  foreach (cell, plan->subplans) {
    // The planner leaves a subplan out that is not used.
    if (lfirst(cell) != nullptr) visit(reinterpret_cast<Plan**>(&lfirst(cell)), context);
  }
}

}  // namespace dpquantile
