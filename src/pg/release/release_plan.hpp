#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// What the planner tells the executor of a release node. The node's plan is a CustomScan. Its only
// child groups the rows. Its tuples have the columns of custom_scan_tlist, in which each private
// aggregate is an Aggref.
namespace dpquantile {

// Columns are numbered from 1.
struct ReleasePlan {
  List* calls;  // of integers: the columns with private aggregates
  // The order of the groups. The lists have equal lengths.
  List* sort_columns;  // of integers
  List* operators;     // of OIDs: less than
  List* collations;    // of OIDs
  List* nulls_first;   // of integers: 0 or 1
  bool has_keys;       // whether the query groups by keys
  int grouping_sets;   // how many groups each row belongs to
  List* identity;      // of the query level (pg/reuse/query_identity.hpp), or NIL
  bool knows_tables;   // whether it is known which protected tables the rows are of
  List* tables;        // these, of OIDs
};

// The plan as custom_private, and back. Both share its lists.
List* encode_release(const ReleasePlan& release);
ReleasePlan decode_release(const CustomScan* plan);

// The expression of a column, for a column with a private aggregate.
const Aggref* call_in_column(const CustomScan* plan, int column);

}  // namespace dpquantile
