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

// The OIDs of the tables and views that the query of a protected view reads, also through views.
// Its rows are made of theirs. Public tables are left out.
List* relations_in_view(Query* view);

}  // namespace dpquantile
