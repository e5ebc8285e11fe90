#pragma once

#include "pg/server/postgres.hpp"

// Code of restricted roles that runs where nothing restricts it.
namespace dpquantile {

// Autovacuum workers, and sessions of other roles that run ANALYZE or REFRESH MATERIALIZED VIEW,
// evaluate the functions in indexes, statistics and materialized views of a table's owner. They
// have the library only if it is in shared_preload_libraries; session_preload_libraries does not
// reach autovacuum. There the functions read exact counters.
//
// Null if the library is preloaded, or if no restricted role owns a table of this database and none
// may create one, itself or as a member of another role, and if none owns a relation, a schema or
// the database, or may create schemas, in another database. Otherwise a clause that says which role
// can: palloc'd, from names and rights, which are public. Temporary tables of this database do not
// count, because only their session reads them. A right to create in a schema of another database
// is not seen.
const char* unrestricted_code();

}  // namespace dpquantile
