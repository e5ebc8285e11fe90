#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace dpquantile {

// Calls `visit` with the place of each child of a node, and with `context`. It may put another node
// there.
using ChildVisitor = void (*)(Plan** child, void* context);
void visit_children(Plan* node, ChildVisitor visit, void* context);

// The same with the top of each tree of the plan: its own, and those of its subplans.
void visit_trees(PlannedStmt* plan, ChildVisitor visit, void* context);

}  // namespace dpquantile
