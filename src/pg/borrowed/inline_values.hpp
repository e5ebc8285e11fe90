#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace dpquantile {

// What is computed after a join is computed for the rows that match. If it read a long value of a
// public table that is stored out of line (TOAST), the pages of this value would stay in memory,
// and the time of a later query of this table would tell which of its rows has matched. So below a
// release node the scans of these tables (OIDs) give NULL in the place of such values
// (dpquantile.inline_value). The conditions of a scan itself read all of them, whatever the
// protected rows are.
void leave_out_stored_values(PlannedStmt* plan, const List* tables);

}  // namespace dpquantile
