#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// A query that the planner has not seen yet, with total functions in the place of others, at all of
// its levels: of functions, casts, and aggregates of the rows of one person, as in the queries of
// roles without SELECT (pg/protect/inside.hpp). So what fails for a row is NULL, and sums of floats
// do not depend on the order of rows. It refuses nothing: a call that no variant stands for stays.
Query* total_query(const Query* query);

}  // namespace dpquantile
