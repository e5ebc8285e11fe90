#pragma once

#include "pg/release/grouping_states.hpp"

// Where a release node may get the states of a query level from, if it does not group rows of this
// server.
namespace dpquantile {

struct ReleaseNode;

struct StateSource {
  // The child of the release node for a query level whose rows are not here: a path with these
  // columns, which has states for answers. Null for a level whose rows are here. ereports to refuse
  // a level.
  Path* (*child_for)(const GroupingLevel& level, const PathTarget* states);
  // Called before an execution is charged, when its calls are prepared. Returns whether the source
  // gives the states of the node. ereports to refuse the execution.
  bool (*prepare)(ReleaseNode* node);
};

// Installs the source, which must live as long as the process. Call it once, when the library is
// loaded.
void install_state_source(const StateSource* source);

// The installed source, or null.
const StateSource* state_source();

}  // namespace dpquantile
