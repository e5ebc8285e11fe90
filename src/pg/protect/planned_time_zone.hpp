#pragma once

#include "pg/server/postgres.hpp"

// The time zone for which a query is planned, if its plan has values that depend on it.
namespace dpquantile {

// Notes that the query that is being planned depends on the session's time zone.
void depend_on_time_zone();

// Forgets what an earlier query has noted.
void forget_time_zone();

// The session's time zone if the query depends on it, else null.
const char* planned_time_zone();

// ereports if a query was planned for another time zone than that of the session, and has all
// queries planned anew. Null: it depends on none.
void require_time_zone(const char* planned);

}  // namespace dpquantile
