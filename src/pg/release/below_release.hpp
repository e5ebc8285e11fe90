#pragma once

#include "pg/server/plan_children.hpp"

namespace dpquantile {

// Calls `visit` with the place of each node of a plan below its release nodes, after its children,
// and with `context`. It may put another node there.
void visit_below_releases(PlannedStmt* plan, ChildVisitor visit, void* context);

}  // namespace dpquantile
