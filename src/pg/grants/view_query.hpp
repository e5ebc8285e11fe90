#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// Whether a view's query does no more than choose rows and columns of one table, or of another such
// query. Then its rows are those of the table, which need not be protected by itself. Other views
// are read as derived tables: what is protected of the tables in them is a person's row there, and
// what is not is public.
bool shows_one_table(const Query* view);

// The OIDs of the tables and views of whose rows those of a protected view are made: what its query
// reads, also through views, but for what is public in it.
List* relations_in_view(Query* view);

}  // namespace dpquantile
