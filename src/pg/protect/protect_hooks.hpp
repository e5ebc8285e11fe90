#pragma once

#include "pg/grants/refusal.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// From now on until the end, queries of roles that may read their relations are planned with total
// functions (pg/vocabulary/total_query.hpp), as those of other roles are. An error must not skip
// the end.
void begin_total_planning();
void end_total_planning();

// Installs what lets users without SELECT ask private queries over protected relations. Call it
// once, when the library is loaded, after install_restricted_hooks(). All hooks call those of
// libraries that were loaded before.
//
// - Before a query is planned, one with borrowed relations is validated and rewritten, and gets the
//   rights of the relations' owners. Its plan is marked.
// - A marked plan is not explained, and runs without instrumentation.
// - Each execution of a release node of a marked plan checks again that its user may borrow.
void install_protect_hooks();

// Notes all reasons why the rules refuse a query, after pg/plain has translated it, as far as one
// does not hide another. The query cannot be planned afterwards.
void find_reasons(Query* query, const char* text, Reasons* reasons);

// The same for a query of a protected view, which counts as borrowed, whoever asks. `reader`: the
// role that asks, or invalid for one that may read all public tables.
void find_reasons_of_view(Query* query, Oid view, Oid reader, Reasons* reasons);

}  // namespace dpquantile
