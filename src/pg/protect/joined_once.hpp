#pragma once

#include "pg/protect/refusal.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// What is computed of a protected row is bounded for one row (row_work.hpp). A nested loop below a
// release computes it once for each row of the other side of the join, or for each pair, so that
// one row could take seconds. A hash join and a merge join compute it once. Which of them is taken
// depends on costs, and on settings of the session.
namespace dpquantile {

// Whether a release node that reads protected tables has a nested loop below it that compares rows.
bool has_nested_loops(const PlannedStmt* plan);

// ereports if it has. No other plan was possible.
void refuse_nested_loops(const RefusedQuery& refused, const PlannedStmt* plan);

// The settings of the planner about joins. Plain data.
struct JoinMethods {
  bool nested_loops;
  bool hashes;
  bool merges;
  bool jit;  // by the costs, which say nothing if a method is off
};

// From now on the planner takes no nested loop where another join is possible. An error must not
// skip the end.
JoinMethods begin_without_nested_loops();
void end_without_nested_loops(const JoinMethods& usual);

}  // namespace dpquantile
