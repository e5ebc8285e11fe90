#pragma once

#include "pg/distributed/states_query.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace dpquantile {

// Has each aggregate of a plan that reads states be the extension's own. Citus takes the combining
// aggregate by its name from any schema, so it may have found one that a user made, which would run
// as the user who asks. ereports if the plan reads states in any other way.
void require_own_state_readers(PlannedStmt* plan, const StateAggregates& own);

// Citus fails without a reason if it finds a function with the name that is no aggregate. ereports
// if there is one in any schema.
void require_no_function_named_as_combination();

}  // namespace dpquantile
