#pragma once

namespace dpquantile {

// Where a shard is on several servers, as that of a reference table is, and the connection to one
// is lost, Citus asks another one for all rows, and keeps those that it had already. Such rows
// would be counted twice, or a group answered twice for one charge. Citus only writes a message of
// it, as a warning or below.

// Call it once, when the library is loaded.
void watch_lost_connections();

// Begins to look for such messages, whatever the settings say about messages. Pairs may be nested.
struct ConnectionWatch {
  int log_level;
  bool has_lost;
};
ConnectionWatch begin_connection_watch();

// Returns whether a connection was lost since the beginning. An error must not skip it.
bool end_connection_watch(const ConnectionWatch& watch);

}  // namespace dpquantile
