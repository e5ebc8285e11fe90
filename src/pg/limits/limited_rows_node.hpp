#pragma once

#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/extensible.h"
}

// The plan node that chooses at most some rows of each user, below the grouping of a release node.
// It gives the rows of its child with one more column: whether the row is chosen. It reads all rows
// before it gives the first. Rows without a user are not chosen. Which rows of a user are chosen
// depends on the user's own rows, as far as the query uses them, and on random keys of the
// execution (core/contributions/limited_rows.hpp; docs/privacy.md, "Rows of a person"). The order
// of the rows means nothing to what is above: the aggregates answer with the same law for any
// order. What is left of a person is at most some rows, whatever the rows of others are (Lemma 34f
// of docs/privacy/relations.md).
namespace dpquantile {

// The node's name in EXPLAIN.
inline constexpr char kLimitedRowsName[] = "LimitedRows";

// What the planner tells the node, as a mark in custom_private. Columns are those of the child,
// from 1.
struct LimitedRowsPlan {
  int user_column;      // that of the users
  int most;             // the most rows of a user
  bool gives_all_rows;  // and not only those that are chosen
  List* left_out;       // of integers: the columns that nothing above uses, which are NULL

  static constexpr MarkKind kKind = {"dpquantile limited rows", 1};
  void each_field(MarkFields* fields);
};

// How PostgreSQL makes the node of a plan.
const CustomScanMethods* limited_rows_methods();

// Makes the node known to PostgreSQL. Call it once, when the library is loaded.
void install_limited_rows_node();

}  // namespace dpquantile
