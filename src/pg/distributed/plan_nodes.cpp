#include "pg/distributed/plan_nodes.hpp"

namespace dpquantile {

namespace {

struct Visit {
  PlanVisitor visit;
  const void* context;
};

void visit_node(const Plan* plan, const Visit& to);

void visit_nodes(const List* plans, const Visit& to) {
  const ListCell* cell;
  foreach (cell, plans) visit_node(static_cast<const Plan*>(lfirst(cell)), to);
}

void visit_node(const Plan* plan, const Visit& to) {
  if (plan == nullptr) return;
  to.visit(plan, to.context);
  visit_node(plan->lefttree, to);
  visit_node(plan->righttree, to);
  switch (nodeTag(plan)) {
    case T_Append:
      return visit_nodes(reinterpret_cast<const Append*>(plan)->appendplans, to);
    case T_MergeAppend:
      return visit_nodes(reinterpret_cast<const MergeAppend*>(plan)->mergeplans, to);
    case T_SubqueryScan:
      return visit_node(reinterpret_cast<const SubqueryScan*>(plan)->subplan, to);
    case T_CustomScan:
      return visit_nodes(reinterpret_cast<const CustomScan*>(plan)->custom_plans, to);
    default:
      return;
  }
}

}  // namespace

void visit_plan(const PlannedStmt* plan, PlanVisitor visit, const void* context) {
  const Visit to = {visit, context};
  visit_node(plan->planTree, to);
  visit_nodes(plan->subplans, to);
}

}  // namespace dpquantile
