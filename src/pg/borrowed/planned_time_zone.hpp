#pragma once

#include "pg/server/postgres.hpp"

// The time zone for which a query is planned, if its plan has values that depend on it.
namespace dpquantile {

// Notes that the query that is being planned depends on the session's time zone.
void depend_on_time_zone();

// Forgets what was noted, and returns whether anything was. A query that is planned while another
// one is planned notes for itself: restore_time_zone() gives the other one its note back.
bool forget_time_zone();
void restore_time_zone(bool noted);

// The session's time zone if the query depends on it, else null.
const char* planned_time_zone();

// ereports if a query was planned for another time zone than that of the session, and has all
// queries planned anew. Null: it depends on none.
void require_time_zone(const char* planned);

}  // namespace dpquantile
