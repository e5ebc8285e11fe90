#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace dpquantile {

// Calls `visit` with each node of a plan, and with `context`.
using PlanVisitor = void (*)(const Plan* node, const void* context);
void visit_plan(const PlannedStmt* plan, PlanVisitor visit, const void* context);

}  // namespace dpquantile
