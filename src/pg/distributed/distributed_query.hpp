#pragma once

#include "pg/query/level.hpp"
#include "pg/release/release_columns.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// The query levels of a query that read Citus tables, and their paths. Citus would take over a
// query that names its tables, and send its private aggregates to the shards. So FROM is cut out of
// each level with private aggregates, and comes back as a path that gives the states of the groups.
namespace dpquantile {

// Whether a query calls a private aggregate at any level.
bool has_private_aggregates(Query* query);

// Cuts each level with private aggregates that reads a Citus table, and returns what was taken out:
// the queries of the states (states_query.hpp), each as its Level, which are in the marks of the
// levels, too. ereports if a level cannot be cut, or if the rest of the query reads a Citus table.
List* cut_query(Query* query);

// As StateSource::child_for, for a level with such a mark. ereports for a level that reads a Citus
// table and was not cut.
Path* states_path_for(const GroupingLevel& level, const PathTarget* states);

// Adds the relations that a level and those below name to the range table of a plan, so that each
// execution of the plan locks them, and checks the rights on them when it starts.
void add_relations(PlannedStmt* plan, const Level* level);

}  // namespace dpquantile
