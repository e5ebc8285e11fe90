#include "pg/distributed/plan_nodes.hpp"

#include "pg/server/plan_children.hpp"

namespace dpquantile {

namespace {

struct Visit {
  PlanVisitor visit;
  const void* context;
};

void visit_node(Plan** plan, void* to) {
  const auto* with = static_cast<const Visit*>(to);
  with->visit(*plan, with->context);
  visit_children(*plan, visit_node, to);
}

}  // namespace

void visit_plan(const PlannedStmt* plan, PlanVisitor visit, const void* context) {
  Visit to = {visit, context};
  visit_trees(const_cast<PlannedStmt*>(plan), visit_node, &to);
}

}  // namespace dpquantile
