#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// GROUPING SETS, ROLLUP and CUBE of plain SQL: a private query for each set. In one release
// block with several sets a row would be in several groups, and one release would answer for each
// of them. Apart, each set is a release of its own, and is charged.
namespace dpquantile {

// Whether a query level has grouping sets that can be taken apart: it has no window functions and
// no CTEs of its own.
bool has_separable_sets(const Query* query);

// Makes of such a level one that selects from a UNION ALL of levels with one grouping each, in
// which the keys of other sets are NULL and GROUPING() is a constant. ORDER BY, DISTINCT and LIMIT
// stay outside. HAVING comes into each. ereports if there are more than kMaxGroupingSets.
void separate_grouping_sets(Query* query);

inline constexpr int kMaxGroupingSets = 64;

}  // namespace dpquantile
