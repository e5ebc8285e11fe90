#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// Plans with values that depend on the time zone, such as the list of months of a timestamptz. The
// plan of a cursor would keep the keys of the time zone in which it was opened, in which rows of a
// new one have no place.
namespace dpquantile {

// Notes in a plan the time zone of the session.
void mark_time_zone(PlannedStmt* plan);

// ereports if a plan is for another time zone than that of the session. Not for plans without the
// note.
void require_time_zone(const PlannedStmt* plan);

}  // namespace dpquantile
