#pragma once

#include "pg/release/release_execution.hpp"

// A subquery with a release block runs once for each row of the query around it, and may compare
// protected rows with columns of that one. Such a value is read from its table, or computed, when
// it is first needed: that would be when the first protected row is there. So it is taken before
// the charge.
namespace dpquantile {

// The values of columns of the query around that rows are compared with: checks their sizes as
// those of parameters, and reads what is stored elsewhere or is not computed yet. Call it before
// each charge.
void take_outer_values(ReleaseNode* node);

}  // namespace dpquantile
