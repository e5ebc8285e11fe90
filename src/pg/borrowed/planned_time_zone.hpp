#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// Plans with values that depend on the time zone, such as the list of months of a timestamptz, or
// on the style of dates, such as those of day::text. The plan of a cursor would keep the keys of
// the settings with which it was opened, in which rows have no place under new ones.
namespace dpquantile {

// Notes in a plan the time zone of the session; `with_style`: its style of dates, too.
void mark_time_zone(PlannedStmt* plan, bool with_style);

// ereports if a plan is for another time zone or style than that of the session. Not for plans
// without the note.
void require_time_zone(const PlannedStmt* plan);

}  // namespace dpquantile
