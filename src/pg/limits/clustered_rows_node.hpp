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
// *Protected rows* come part by part, as they were read, below a hash table: the states of a part
// are in the processor's caches while its rows come. A row is in a part by the hash of its keys
// under a secret of the execution. To write and read it takes the same time in any part, beside any
// rows. Blocks of rows go to disk when they pass the limit that is drawn for the read
// (pg/release/spill_limit.hpp), as those of LimitedRows do. Whether there is the node is decided by
// the lists of keys that stand in the query. It promises the grouping nothing: whichever rows it
// would put where, PostgreSQL's hash table would make the same groups of them.
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

// How PostgreSQL makes the node of a plan.
const CustomScanMethods* clustered_rows_methods();

// Makes the node known to PostgreSQL. Call it once, when the library is loaded.
void install_clustered_rows_node();

}  // namespace dpquantile
