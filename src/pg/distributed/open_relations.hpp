#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// What was checked about a query's relations must still hold when it runs. The session itself holds
// locks that do not keep it from changing them, for example in a function that the query calls;
// relations that are open do.
namespace dpquantile {

// Opens the relations of a query, at all levels, and returns them. The caller has locked them.
// While they are open, this session cannot change or drop them.
List* open_relations(const Query* query);

void close_relations(List* relations);

}  // namespace dpquantile
