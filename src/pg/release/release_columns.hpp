#pragma once

#include "pg/parameters/private_call.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

// The columns of a release node. Its child has the same columns with states for answers.
namespace dpquantile {

struct ReleaseColumns {
  // The group keys, and each aggregate, GROUPING() and column from which the rest of the target and
  // the conditions of HAVING can be computed. No private aggregate occurs twice.
  PathTarget* target;
  // Whether the first columns are those of the query level's target. Then the node needs no
  // projection above it.
  bool begin_with_target;
  // For each key of DPQ_GROUP_CLAUSE its column, from 1.
  List* keys;
  // With GROUPING SETS, for each key the column of its GROUPING(): a NULL may be a key or stand for
  // all keys. Otherwise empty.
  List* grouping_of_keys;
};

// ereports if the columns are too many for a tuple, and for uses of GROUPING() that the planner
// would confuse.
ReleaseColumns release_columns(const GroupingLevel& level);

}  // namespace dpquantile
