#pragma once

#include "pg/parameters/family.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
}

namespace dpquantile {

// ereports if a parameter of the call comes from a subquery that may read data, or from an outer
// query whose rows data may choose. Data are in tables, and behind the functions that
// calls_changing_functions() names. (SELECT min(salary) FROM staff) as the lower bound would tell
// the smallest salary exactly, and 1.0 / (SELECT count(*) ...) as delta the number of rows. A value
// that the session computed before, and passes as a query parameter, cannot be recognised. `root`
// plans the query level of the call.
void check_parameters_source(PlannerInfo* root, const Aggref* call, const FamilyRow& family);

}  // namespace dpquantile
