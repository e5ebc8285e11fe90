#pragma once

#include "pg/protect/outside.hpp"

namespace dpquantile {

// Checks an outer query, or a query without protected relations: all its expressions and sort keys.
// Derived tables and CTEs are not looked at.
void check_outer_query(QueryLevel* level);

}  // namespace dpquantile
