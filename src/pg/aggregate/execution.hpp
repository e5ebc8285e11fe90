#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/execnodes.h"
}

// The groups of one execution of an aggregate node are disjoint sets of rows within each grouping
// set. The groups of a row-level aggregate share one charge (parallel composition). A rescan is a
// new execution.
namespace dpquantile {

// The number of the node's current execution: the same for all groups of one execution, different
// after every rescan. Call it from a final function. ereports if memory is short.
uint64 current_execution(AggState* node);

// The number of groups that one input row belongs to in an execution of the node: the number of
// grouping sets, or 1 without GROUPING SETS.
int count_grouping_sets(const AggState* node);

// Whether the node groups rows by keys. Without keys its groups do not depend on the data.
bool has_group_keys(const AggState* node);

}  // namespace dpquantile
