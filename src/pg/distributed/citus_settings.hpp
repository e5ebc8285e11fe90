#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// Settings of Citus that any user may change. Some of them make Citus count rows more than once, or
// fail when there are too many, or change the settings of sessions on workers.
namespace dpquantile {

// Requires that this session has the server's settings of Citus, except those which are known to
// change nothing but the way of an answer. A value is the server's unless it comes from the role,
// the client or the session. ereports otherwise. It reads no data.
void require_settings_of_server();

// Refuses, on a worker, a query of states in a session with a search_path of its own: the text that
// Citus sends has names without schemas. It does so before any function of the query is called.
void require_search_path_of_server(Query* query);

}  // namespace dpquantile
