#pragma once

#include "pg/release/release_execution.hpp"

namespace dpquantile {

// The values of columns of the query around that rows are compared with: checks their sizes as
// those of parameters, and reads what is stored elsewhere or is not computed yet. Call it before
// each charge.
void take_outer_values(ReleaseNode* node);

}  // namespace dpquantile
