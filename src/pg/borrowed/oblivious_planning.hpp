#pragma once

#include "core/base/sip_hash.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
}

// Planning a query over protected rows without looking at them, and without what the session has
// set.
//
// *Statistics.* The planner compares the constants of a query with values that ANALYZE has copied
// from rows. How long that takes, and the plan, would tell of these rows, before anything is
// charged. So it plans as for tables that were never analyzed.
//
// *Sizes.* Costs grow with the pages of a table and its indexes, and a condition on 880 keys can be
// had that makes a scan of an index as cheap as one of the whole table: one page more decided, and
// took a tenth of the time. So all protected tables between two sizes are planned alike. A secret
// decides these sizes. Indexes in which one row decides how many others are read, such as BRIN, are
// left out.
//
// *Joins.* What is computed of a protected row is bounded for one row (row_work.hpp). A nested loop
// computes it once for each row of the other side of the join, so that one row could take seconds.
// How far a merge join reads depends on the largest key. Only hash joins can be made to read the
// same whichever rows match (oblivious_joins.hpp). Which join is taken depends on costs, and on
// settings of the session.
//
// *Sorts.* How long PostgreSQL sorts rows depends on their order, and on single ones: it stops at
// rows that are in order already. So rows are grouped by hashes (release_block.cpp), and those of
// window functions come in an order that a node of ours makes (person_order_node.hpp in pg/limits),
// of all rows: not in a worker, whose rows PostgreSQL would merge.
namespace dpquantile {

// The settings of the planner about scans, joins, sorts and costs. Plain data.
struct PlannerSettings {
  bool methods[DPQ_HAS_EAGER_AGGREGATE ? 17 : 16];
  double costs[5];
  int memory;           // of a hash table: with less, the planner may leave a hash join out
  Size session_memory;  // as replace_session_memory() has it (work_memory.hpp)
  bool jit;             // by the costs, which say nothing if a method is off
  // of extensions that choose plans
  DPQ_SINCE_19(planner_setup_hook_type setup; planner_shutdown_hook_type shutdown;
               joinrel_setup_hook_type joinrel; join_path_setup_hook_type join_path;)
};

// From now on the planner knows no statistics, and takes hash joins where rows are joined by
// equalities. There are none where the keys of both sides are fixed, as by WHERE id = 7. The other
// settings are those that PostgreSQL has by default: with some that a session may set, what is
// possible would cost as much as what is off. An error must not skip the end.
// `key` is the secret.
PlannerSettings begin_oblivious_planning(const SipKey& key);
void end_oblivious_planning(const PlannerSettings& usual);

// Once, when the library is loaded.
void install_oblivious_planning();

}  // namespace dpquantile
