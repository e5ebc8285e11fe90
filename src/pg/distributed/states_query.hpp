#pragma once

#include "pg/query/level.hpp"

extern "C" {
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
}

// The query that gives the states of a query level's private aggregates:
//
//   SELECT city, topn_add_agg(income, '\x...') FROM people WHERE age > 30 GROUP BY city
//
// for the level SELECT city, dp_median(income, 1, 0, 1000) ... HAVING ... ORDER BY .... What stays
// of the level reads groups of a placeholder. '\x...' is a state without records: the parameters of
// the call, without which a shard cannot count on the value grid.
//
// Citus sends an aggregate with this name and without a combine function to the shards as it is,
// and combines with the aggregate topn_union_agg of the state's type. For others it looks the
// transition function up for each row, and makes a row of several arguments.
namespace dpquantile {

inline constexpr char kCollectingAggregate[] = "topn_add_agg";
inline constexpr char kCombiningAggregate[] = "topn_union_agg";

// Takes FROM, WHERE and the grouping out of a query level with private aggregates, and returns them
// as such a query. Its columns are those of the placeholder, which is a call of distributed_groups.
// In the level, FILTER of each aggregate is the Var of its column, and its arguments from rows are
// NULL, and the level is read again. ereports if it is of a kind that is not supported.
Query* take_states_query(Level* level);

// Refuses a level that uses columns or WITH queries of a query around it.
[[noreturn]] void refuse_outer_query();

// The column of the placeholder that stands for an expression of the level: a Var of a key, or an
// aggregate.
int placeholder_column(const Node* expression);

// Writes the parameters of a call into its column.
void set_parameters(Query* states, int column, const bytea* empty_state);

// Leaves the aggregates of other columns than these out of the query: NULL stands for each. Keys
// stay.
void leave_out_other_aggregates(Query* states, const List* columns);

// The type of the states in such a query, and the aggregates that collect and combine them.
struct StateAggregates {
  Oid state;
  Oid collect;
  Oid combine;
};
StateAggregates state_aggregates(const Query* states);

// Requires that no node of a plan reads a placeholder: one that the query itself has, or one whose
// private aggregates PostgreSQL left out, because the query around does not use them, so that it
// would only group the placeholder. ereports otherwise.
void require_no_placeholder(const PlannedStmt* plan);

}  // namespace dpquantile
