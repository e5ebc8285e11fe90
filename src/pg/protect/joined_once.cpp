#include "pg/protect/joined_once.hpp"

#include "pg/release/release_node.hpp"
#include "pg/release/release_plan.hpp"
#include "pg/server/plan_nodes.hpp"

extern "C" {
#include "jit/jit.h"
#include "optimizer/cost.h"
}

namespace dpquantile {

namespace {

// For visit_plan_below(). `found` is a bool*. Where the keys of both sides are fixed, as by
// WHERE id = 7, nothing is left to compare: then both sides have the rows of that key only.
void find_nested_loop(const Plan* node, const void* found) {
  if (!IsA(node, NestLoop)) return;
  const auto* loop = reinterpret_cast<const NestLoop*>(node);
  if (loop->join.joinqual == NIL && loop->nestParams == NIL) return;
  *static_cast<bool*>(const_cast<void*>(found)) = true;
}

// For visit_plan(). `found` is a bool*.
void look_below_release(const Plan* node, const void* found) {
  if (!IsA(node, CustomScan)) return;
  const auto* scan = reinterpret_cast<const CustomScan*>(node);
  if (scan->methods != release_scan_methods()) return;
  const ReleasePlan release = decode_release(scan);
  if (release.knows_tables && release.tables == NIL) return;
  visit_plan_below(node, find_nested_loop, found);
}

}  // namespace

bool has_nested_loops(const PlannedStmt* plan) {
  bool found = false;
  visit_plan(plan, look_below_release, &found);
  return found;
}

void refuse_nested_loops(const RefusedQuery& refused, const PlannedStmt* plan) {
  if (!has_nested_loops(plan)) return;
  refuse(refused, kNowhere,
         "its join compares each protected row with each row of another table or list",
         "Join by the = of a key that both sides have, of one type.");
}

JoinMethods begin_without_nested_loops() {
  const JoinMethods usual = {enable_nestloop, enable_hashjoin, enable_mergejoin, jit_enabled};
  enable_nestloop = false;
  enable_hashjoin = true;
  enable_mergejoin = true;
  jit_enabled = false;
  return usual;
}

void end_without_nested_loops(const JoinMethods& usual) {
  enable_nestloop = usual.nested_loops;
  enable_hashjoin = usual.hashes;
  enable_mergejoin = usual.merges;
  jit_enabled = usual.jit;
}

}  // namespace dpquantile
