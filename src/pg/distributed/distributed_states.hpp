#pragma once

#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/extensible.h"
}

// The plan node below a release node whose rows are on several servers: it runs the query that
// gives the states of each group, which Citus plans and sends to the shards. The query is planned
// and started before the charge, so that what Citus cannot do costs nothing, and read after it.
// Each group comes once: a group in two parts would be released twice for one charge.
namespace dpquantile {

struct ReleaseNode;

// The node's name in EXPLAIN.
inline constexpr char kDistributedStatesName[] = "DistributedStates";

// What the planner tells the node, as a mark in custom_private.
struct StatesPlan {
  const Query* states;  // the query (states_query.hpp)
  List* columns;        // of integers: for each column of the node that of the query, from 1
  List* relations;      // the OIDs of those that the query reads
  bool is_alone;        // whether no other level of the statement is charged

  static constexpr MarkKind kKind = {"dpquantile states", 1};
  void each_field(MarkFields* fields);
};

// The methods of the node's plans.
const CustomScanMethods* distributed_states_methods();

// Has the query planned with the parameters of the release node's calls, and starts it, if the
// node's child is of this kind. So the query is known to be allowed and possible before the charge.
// Returns whether it is. ereports what the planner or the executor's start reports, and unless only
// this extension's aggregates see states.
bool start_distributed_states(ReleaseNode* node);

// Makes the node known to PostgreSQL. Call it once, when the library is loaded.
void install_distributed_states();

}  // namespace dpquantile
