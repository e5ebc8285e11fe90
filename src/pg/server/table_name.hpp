#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// The name of a table with its schema, palloc'd, as dpquantile.name_of_table() has it. It is not
// quoted, because that depends on a setting. Null if there is no such table.
const char* name_with_schema(Oid table);

}  // namespace dpquantile
