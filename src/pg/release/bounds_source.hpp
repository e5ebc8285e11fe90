#pragma once

#include "pg/parameters/family.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
}

namespace dpquantile {

// ereports if a bound of the call, or its options, comes from a subquery that may read data: a
// table, an outer query or a function that is not immutable. (SELECT min(salary) FROM staff) as the
// lower bound would tell the smallest salary exactly. A bound that the session computed before, and
// passes as a query parameter, cannot be recognised. `root` plans the query level of the call.
void check_bounds_source(PlannerInfo* root, const Aggref* call, const FamilyRow& family);

}  // namespace dpquantile
