#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// Puts the value of each subquery that reads no rows in its place, as PostgreSQL's planner would
// compute it: BI tools write WHERE at >= (SELECT now() - interval '1 day'). One that is volatile is
// computed once, and stays. Returns whether the query level has changed.
bool put_values_of_subqueries(Query* query);

}  // namespace dpquantile
