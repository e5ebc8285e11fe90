#pragma once

// Private aggregates over the tables of Citus. Citus plans a query before PostgreSQL's planner
// groups its rows, and would send private aggregates to the shards. So the planner hook here, which
// comes before that of Citus, takes the query of the states out of each level with private
// aggregates (states_query.hpp). What is left reads no Citus table, and so Citus leaves it to
// PostgreSQL. Its release node is on this server, the coordinator, above a node that runs the query
// of the states (distributed_states.hpp).
//
// An execution of a release node is refused on all other servers of Citus, and in sessions that
// Citus opens.
namespace dpquantile {

// Installs the hook and the node if the server preloads Citus. Otherwise it does nothing. Call it
// once, in _PG_init, after all other planner hooks of this library.
void install_distributed_hooks();

}  // namespace dpquantile
