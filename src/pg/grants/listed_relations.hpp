#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// Lets a restricted user find the relations that he may ask private queries of. Tools list tables
// by information_schema and has_table_privilege(): in a query that reads PostgreSQL's own relations
// only, has_table_privilege(), has_any_column_privilege() and has_column_privilege() say that the
// current user has SELECT on them. The names of tables and columns are public in pg_class anyway.
//
// Nothing that a right decides is opened. The user could have written true himself in a query of
// his own, and what others have written is left as it is: views over other relations, and
// functions. So the query must be the text that the client has sent, and not have been planned.
// Returns whether it changed.
bool list_private_relations(Query* query);

}  // namespace dpquantile
