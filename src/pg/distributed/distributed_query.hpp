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

// A query that is being planned without the levels' own FROM.
struct CutQuery {
  List* states;      // Level: the queries that were taken out (states_query.hpp)
  List* numbers;     // of their placeholders: Const of int8
  int levels;        // with private aggregates, cut or not
  CutQuery* around;  // the query whose planning plans this one, or null
};

// While a query is between these calls, states_path_for() finds its levels. An error between them
// must call end_cut() too.
void begin_cut(CutQuery* cut);
void end_cut(const CutQuery* cut);

// Cuts each level with private aggregates that reads a Citus table. ereports if a level cannot be
// cut, or if the rest of the query reads a Citus table.
void cut_query(CutQuery* cut, Query* query);

// As StateSource::child_for. ereports for a level that reads a Citus table and was not cut.
Path* states_path_for(const GroupingLevel& level, const PathTarget* states);

// Adds the relations that a level and those below name to the range table of a plan, so that each
// execution of the plan locks them, and checks the rights on them when it starts.
void add_relations(PlannedStmt* plan, const Level* level);

}  // namespace dpquantile
