#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/extensible.h"
#include "nodes/parsenodes.h"
}

// The plan node below a release node whose rows are on several servers: it runs the query that
// gives the states of each group, which Citus plans and sends to the shards. The query is planned
// and started before the charge, so that what Citus cannot do costs nothing, and read after it.
// Each group comes once: a group in two parts would be released twice for one charge.
namespace dpquantile {

struct ReleaseNode;

// The node's name in EXPLAIN.
inline constexpr char kDistributedStatesName[] = "DistributedStates";

// The methods of the node's plans. custom_private is the query of the states (states_query.hpp); a
// list of integers: for each column of the node that of the query, from 1; whether no other level
// of the statement is charged; and the OIDs of the relations that the query reads.
const CustomScanMethods* distributed_states_methods();

// Has the query planned with the parameters of the release node's calls, and starts it, if the
// node's child is of this kind. So the query is known to be allowed and possible before the charge.
// Returns whether it is. ereports what the planner or the executor's start reports, and unless only
// this extension's aggregates see states.
bool start_distributed_states(ReleaseNode* node);

// Makes the node known to PostgreSQL. Call it once, when the library is loaded.
void install_distributed_states();

}  // namespace dpquantile
