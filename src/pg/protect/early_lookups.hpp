#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
}

// PostgreSQL looks some things up when the first row needs them: it opens a collation, the names of
// months in lc_time, the file of a time zone, the table with long values. That may fail, warn or
// wait for a lock, and so tell that there is such a row. Here it happens before the charge, whether
// or not there is one.
namespace dpquantile {

// Opens each collation by which an expression of the query may compare, and those of the columns
// that name users. The planner takes no other collation. ereports if the system lacks its locale.
void open_collations(Query* query, const List* borrowed);

// A call over rows whose public arguments (bits) name what it looks up: a time zone, a format.
// Returns the same call with an ordinary value in the place of each of the other arguments.
Node* sample_call(const FuncExpr* call, unsigned public_arguments);

// Makes these calls, so that they have looked up what the same calls over rows will.
void make_sample_calls(const List* samples, const EState* state);

// Locks, for reading, where the tables of the query keep long values, and the indexes there. A lock
// of somebody else, such as that of REINDEX, is waited for now.
void lock_long_values(const EState* state);

}  // namespace dpquantile
