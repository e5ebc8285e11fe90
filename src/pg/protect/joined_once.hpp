#pragma once

#include "pg/server/postgres.hpp"

// What is computed of a protected row is bounded for one row (row_work.hpp). A nested loop below a
// release computes it once for each row of the other side of the join, or for each pair, so that
// one row could take seconds. A hash join and a merge join compute it once. Which of them is taken
// depends on costs, and on settings of the session.
namespace dpquantile {

// The settings of the planner about scans, joins, sorts and costs. Plain data.
struct PlannerSettings {
  bool methods[12];
  double costs[5];
  bool jit;  // by the costs, which say nothing if a method is off
};

// From now on the planner takes no nested loop where another join is possible: there is none where
// the keys of both sides are fixed, as by WHERE id = 7, and then both sides have the rows of that
// key only. The other settings are those that PostgreSQL has by default: with some that a session
// may set, what is possible would cost as much as what is off. An error must not skip the end.
PlannerSettings begin_without_nested_loops();
void end_without_nested_loops(const PlannerSettings& usual);

}  // namespace dpquantile
