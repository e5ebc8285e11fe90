#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
}

// The plan node that charges for private aggregates and draws their answers, as PostgreSQL's
// executor sees it. release_execution.hpp says what an execution does.
//
// A rescan shows the same answers again. If a parameter from outside of the node has changed, the
// rescan is a new execution.
namespace dpquantile {

// The node's name in EXPLAIN.
inline constexpr char kReleaseName[] = "PrivateRelease";

// The methods of the node's plans (release_plan.hpp).
const CustomScanMethods* release_scan_methods();

// Whether the state is of such a node: a ReleaseNode (release_execution.hpp).
bool is_release_node(const PlanState* state);

// Makes the node known to PostgreSQL. Call it once, in _PG_init.
void install_release_node();

}  // namespace dpquantile
