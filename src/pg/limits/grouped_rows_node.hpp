#pragma once

#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/extensible.h"
}

// The plan node that groups rows for a release node, in the place of PostgreSQL's Agg: it gives a
// row of keys and states for each group. It has an Agg as its child, of which it uses the rows and
// the expression that adds a row to states; it finds the groups itself, which takes less time, and
// has few of them in memory at a time.
//
// Where few groups are expected, a row goes into the state of its group as it comes. Where there
// may be many, all rows are spread over parts by a hash of their keys first, and one part after the
// other is grouped, so that the states of one part are in memory, and in the processor's caches
// while its rows come. Where a new group finds no room beside those that there are, its rows are
// put aside in the same way. How long this takes depends on single rows.
//
// *Protected rows* always find room: whether all of them are spread is decided by the text of the
// query, and none is put aside. Where they are spread, there are always 256 parts; a row is in one
// by the hash of its keys under a secret of the execution, so that all rows of a group are in one
// part, and nobody knows in which. To write and read a row takes the same time in any part, beside
// any rows, and each part is begun and ended in the same way, also one without rows. Blocks of rows
// go to disk when they pass the limit that is drawn for the read (pg/release/spill_limit.hpp), as
// those of LimitedRows do.
//
// Neither groups nor the rows of a group have an order. Parallel workers group their rows as they
// come, and give states for PostgreSQL's Agg to combine.
namespace dpquantile {

// The node's name in EXPLAIN.
inline constexpr char kGroupedRowsName[] = "GroupedRows";

// What the planner tells the node, as a mark in custom_private.
struct GroupedRowsPlan {
  bool in_parts;       // whether all rows are spread over parts before they are grouped
  bool may_put_aside;  // whether rows of new groups are where there is no room; not protected ones
  int bytes_of_group;  // of the states of a group, as the planner expects; 0 of protected rows

  static constexpr MarkKind kKind = {"dpquantile grouped rows", 1};
  void each_field(MarkFields* fields);
};

// How many bytes the groups in memory may take together, where rows may be put aside: their keys
// and states, beside rows that are spread. A group that has begun may grow beyond it.
Size room_for_groups(bool in_parts);

// Whether a node is one that spreads all rows over parts.
bool groups_in_parts(const PlanState* groups);

// How PostgreSQL makes the node of a plan.
const CustomScanMethods* grouped_rows_methods();

// Makes the node known to PostgreSQL. Call it once, when the library is loaded.
void install_grouped_rows_node();

}  // namespace dpquantile
