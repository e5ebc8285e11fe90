#pragma once

#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/extensible.h"
}

// The plan node that gives the rows of its child group by group, below a grouping that takes sorted
// rows. It reads all rows before it gives the first. It is for many groups, and for large states:
// PostgreSQL's hash table has all states side by side, so that each row waits for memory, and never
// puts one on disk; above this node there is one state at a time. The rows are spread over parts by
// a hash of their keys, and within a part by a small table of its groups. A part that is too large
// for memory is sorted by PostgreSQL.
//
// Neither groups nor the rows of a group have an order. How long this takes depends on single rows:
// by them a part is too large for memory, and sorted.
//
// *Protected rows* come part by part, as they were read, below a hash table of PostgreSQL: it
// groups the rows of one part, and when its groups have been read, the release node has it begin
// anew with the next part. So the states of one part are in memory, and in the processor's caches
// while its rows come. There are always 256 parts; a row is in one by the hash of its keys under a
// secret of the execution, so that all rows of a group are in one part, and nobody knows in which.
// To write and read a row takes the same time in any part, beside any rows, and each part is begun
// and ended in the same way, also one without rows. Blocks of rows go to disk when they pass the
// limit that is drawn for the read (pg/release/spill_limit.hpp), as those of LimitedRows do.
// Whether there is the node is decided by the text of the query: not if lists of keys in it name
// few groups. It promises the grouping nothing: whichever rows it would put where, the hash tables
// would make the same groups of them, if only all rows of a group are in one part.
namespace dpquantile {

// The node's name in EXPLAIN.
inline constexpr char kClusteredRowsName[] = "ClusteredRows";

// What the planner tells the node, as a mark in custom_private: the keys of the groups. Columns are
// those of the child, from 1.
struct ClusteredRowsPlan {
  List* columns;     // of integers
  List* equalities;  // of OIDs: =, of types that can be hashed
  List* orders;      // of OIDs: <
  List* collations;  // of OIDs
  bool in_parts;     // whether rows come part by part, as protected ones do
  List* left_out;    // of integers: the columns that nothing above uses, which are NULL

  static constexpr MarkKind kKind = {"dpquantile clustered rows", 2};
  void each_field(MarkFields* fields);
};

// Whether a node groups rows that come part by part.
bool groups_parts(PlanState* grouping);

// Has the node that groups the rows go on with those of the next part, when it has given the groups
// of one. Returns false after the last part, and if the rows do not come part by part.
bool group_next_part(PlanState* grouping);

// Has it begin with the first part when it is read again. Call it before the rescan.
void group_all_parts_again(PlanState* grouping);

// How PostgreSQL makes the node of a plan.
const CustomScanMethods* clustered_rows_methods();

// Makes the node known to PostgreSQL. Call it once, when the library is loaded.
void install_clustered_rows_node();

}  // namespace dpquantile
