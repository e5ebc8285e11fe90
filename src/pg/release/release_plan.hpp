#pragma once

#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// What the planner tells the executor of a release node, as a mark in custom_private. The node's
// plan is a CustomScan. Its only child groups the rows. Its tuples have the columns of
// custom_scan_tlist, in which each private aggregate is an Aggref.
namespace dpquantile {

// Columns are numbered from 1.
struct ReleasePlan {
  List* calls;  // of integers: the columns with private aggregates
  List* noted;  // of integers: for each of them, what is noted (error_notice.hpp)
  // The order of the groups, in lists of equal lengths
  List* sort_columns;     // of integers
  List* operators;        // of OIDs: less than
  List* collations;       // of OIDs
  List* nulls_first;      // of integers: 0 or 1
  bool has_keys;          // whether the query groups by keys
  int grouping_sets;      // how many groups each row belongs to
  const char* identity;   // of the query level (pg/reuse/query_identity.hpp), or null
  bool knows_tables;      // as in LevelMark
  bool joins_rows;        // as in LevelMark
  bool has_one_row;       // as in LevelMark
  bool protects_persons;  // as in LevelMark
  List* tables;           // as in LevelMark

  static constexpr MarkKind kKind = {"dpquantile release", 1};
  void each_field(MarkFields* fields);
};

// The expression of a column, for a column with a private aggregate.
const Aggref* call_in_column(const CustomScan* plan, int column);

}  // namespace dpquantile
