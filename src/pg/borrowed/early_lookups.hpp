#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
}

// PostgreSQL looks some things up when the first row needs them: it opens a collation, the names of
// months in lc_time, the file of a time zone, the table with long values. That may fail, warn or
// wait for a lock, and so tell that there is such a row; and what is looked up, or loaded by a
// library at its first call, makes later calls of the session faster. Here it happens before the
// charge, whether or not there is such a row.
namespace dpquantile {

// Opens each collation by which an expression of the query may compare, and those of the columns
// that name users. The planner takes no other collation. ereports if the system lacks its locale.
void open_collations(Query* query, const List* borrowed);

// Adds to the samples what a node calls for a row, with an ordinary value in the place of each
// argument, but with the constants and parameters of a variant (total_functions.hpp); with texts
// twice, the second time of ASCII. A call with values of rows of a type of which no ordinary value
// is known is left out.
List* with_samples(List* samples, const Node* call);

// The same for what compares the values of a key.
List* with_sample_of_key(List* samples, Node* key);

// The samples as the executor takes them.
List* plan_samples(List* samples);

// Makes these calls, and looks up all labels of the enums in them, so that they have looked up and
// loaded what the same calls over rows will: an error, and the time of a later call in the session,
// do not tell whether a row has made one.
void make_sample_calls(const List* samples, const EState* state);

// Locks, for reading, where the tables of the query keep long values, and the indexes there. A lock
// of somebody else, such as that of REINDEX, is waited for now.
void lock_long_values(const EState* state);

}  // namespace dpquantile
