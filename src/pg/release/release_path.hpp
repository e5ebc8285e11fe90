#pragma once

// The planner's side of a release node. Each path that groups the rows of a query level with
// private aggregates becomes the child of a path for the node. Those of foreign servers are
// dropped. Below the node a private aggregate gives its state, above the node it is its answer.
namespace dpquantile {

// Has the planner make these paths. Then planning ereports if a parameter of a private aggregate is
// not constant, and if a group key has no order. Call it once, in _PG_init.
void install_release_paths();

}  // namespace dpquantile
