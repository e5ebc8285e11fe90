#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// Opens the relations of a query, at all levels, and returns them. The caller has locked them.
// While they are open, this session cannot change or drop them.
List* open_relations(const Query* query);

void close_relations(List* relations);

}  // namespace dpquantile
