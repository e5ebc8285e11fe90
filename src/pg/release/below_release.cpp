#include "pg/release/below_release.hpp"

#include "pg/release/release_node.hpp"
#include "pg/server/nodes.hpp"

namespace dpquantile {

namespace {

struct Visit {
  ChildVisitor visit;
  void* context;
  bool is_below;
};

bool is_release(const Plan* node) {
  return IsA(node, CustomScan) && as<CustomScan>(node)->methods == release_scan_methods();
}

void visit_node(Plan** place, void* visit) {
  const auto* at = static_cast<const Visit*>(visit);
  Visit below = {at->visit, at->context, at->is_below || is_release(*place)};
  visit_children(*place, visit_node, &below);
  if (at->is_below) at->visit(place, at->context);
}

}  // namespace

void visit_below_releases(PlannedStmt* plan, ChildVisitor visit, void* context) {
  Visit from_top = {visit, context, false};
  visit_trees(plan, visit_node, &from_top);
}

}  // namespace dpquantile
