#pragma once

#include "pg/server/postgres.hpp"

// What Citus's own catalogs say. Citus is another extension, which distributes tables over several
// servers; this library does not need it, neither to be built nor to be loaded.
namespace dpquantile {

// Whether the server preloads Citus, so that this session may plan queries with it.
bool server_has_citus();

// Whether the extension citus exists in this database. The functions below require it.
bool database_has_citus();

// Whether Citus manages the table: it is distributed, or each server has a copy of it.
bool is_citus_table(Oid relation);

// Whether the table is a shard: a part or a copy of a Citus table on this server.
bool is_shard(Oid relation);

// Whether this server is the coordinator. It is none if that cannot be told.
bool is_coordinator();

// Whether another server of Citus has opened this session, or this server for itself.
bool is_session_of_citus();

}  // namespace dpquantile
