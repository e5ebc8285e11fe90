#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/execdesc.h"
}

namespace dpquantile {

// Installs the hooks that restrict the sessions of restricted roles (restricted_session.hpp), and
// defines the setting dpquantile.restricted. Call it once, when the library is loaded. All hooks
// call those of libraries that were loaded before.
//
// In a restricted session:
// - a query that is planned gets constants for numbers of rows, pages and bytes (hidden_facts.hpp);
// - no function of denied_functions.cpp is executed in another way, whoever calls it, also not by a
//   trigger (triggers.hpp);
// - the statistics in catalogs and the system columns of tables are not read (denied_catalogs.hpp,
//   system_columns.hpp, bare_rows.hpp), and no row trigger reads them (triggers.hpp);
// - no EXPLAIN measures a query or shows the plan of a hidden table, and maintenance commands print
//   nothing (denied_statements.hpp);
// - no query is planned that reads a relation without the right to, and none for parallel workers;
// - no message below notice reaches the client, and no query is planned or run while
//   client_min_messages asks for them (message_level.hpp);
// - no query runs in a SERIALIZABLE transaction, whose failures tell which rows a query has read.
void install_restricted_hooks();

// Starts a query as EXPLAIN does, to find what it would cost. Nobody is shown the plan, so that
// none is refused for it. The query must not run.
void start_without_running(QueryDesc* query);

// Whether start_without_running() starts this query.
bool is_started_without_running(const QueryDesc* query);

}  // namespace dpquantile
