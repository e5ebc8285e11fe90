#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// All nodes of a plan, for checks of what Citus has made of a query: which aggregates see states,
// and how many rows are expected.
namespace dpquantile {

// Calls `visit` with each node of a plan, and with `context`.
using PlanVisitor = void (*)(const Plan* node, const void* context);
void visit_plan(const PlannedStmt* plan, PlanVisitor visit, const void* context);

}  // namespace dpquantile
