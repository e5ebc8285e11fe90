#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/execnodes.h"
}

// The groups of one execution of an aggregate node are disjoint sets of rows; those of a row-level
// aggregate share one charge (parallel composition). A rescan is a new execution.
namespace dpquantile {

// The number of the node's current execution: the same for all groups of one execution, different
// after every rescan. To be called from a final function.
uint64 current_execution(AggState* node);

// In how many groups one input row takes part in an execution of the node: 1 for GROUP BY or none,
// else the number of grouping sets.
int count_grouping_sets(const AggState* node);

// Whether the node has more than the one group that is there whatever the data.
bool has_group_keys(const AggState* node);

}  // namespace dpquantile
