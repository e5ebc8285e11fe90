#pragma once

#include "pg/server/postgres.hpp"

// What is this extension's own, as the catalogs say it. Names are no proof: whoever may create
// objects in a schema makes one of the same name. To plan a query asks this some ten times, and
// each look into pg_depend is two scans of a catalog. So what was found is kept until PostgreSQL
// says that functions, types or operators changed.
namespace dpquantile {

void install_own_objects();

// Whether the object is a member of this extension. The catalog is one that holds such objects,
// as ProcedureRelationId.
bool is_own_object(Oid catalog, Oid object);

// The schema that the aggregates and dp_ functions are in. InvalidOid if the extension does not
// exist.
Oid schema_of_extension();

}  // namespace dpquantile
