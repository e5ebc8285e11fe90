#pragma once

#include "pg/staged/staged_query.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// The plan of a query that is asked in stages: one node, which asks the stages one after the other,
// and then the rest, when its first row is wanted. Each is planned, judged, charged and released as
// a statement that somebody asks, for the user who reads the rows.
namespace dpquantile {

// Plans a query in stages. All parts are planned for a trial, so that what is refused is refused
// before anything is charged. ereports as the planner does.
PlannedStmt* plan_staged(const StagedQuery* staged, const char* text, int options);

// Installs the planner hook, which comes before that of pg/plain.
void install_staged_queries();

}  // namespace dpquantile
