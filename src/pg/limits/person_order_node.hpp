#pragma once

#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/extensible.h"
#include "nodes/plannodes.h"
}

// The plan node that gives the rows below window functions, or below a grouping by persons, in an
// order in which those of a person are together. It stands in the place of PostgreSQL's sort, whose
// first key is a secret hash of the person (pg/protect/person_windows.hpp). How long that sort
// takes depends on the order of all rows: it stops at rows that are in order already, so that one
// row of another person decides whether a million rows of this one are sorted; and it gives rows
// with equal keys in any order. Here rows are spread by the bits of the hash, which takes the same
// time for all hashes, and then those of each person are sorted on their own.
//
// *Windows.* Rows with equal keys come in the order of the bytes of all their columns, so that the
// rows of a person, as a multiset, decide about everything that is computed of their order
// (Lemma 34j of docs/privacy/relations.md). A value that is compressed or out of line is read once
// for its bytes. Beyond kMostFetched bytes of such values in a row the others are NULL, as values
// of any length are for functions (size_limit.hpp in pg/protect): one long row would take long.
//
// *Groups.* Nothing is computed of the order in a group (Lemma 34h), so it is left open, and values
// stay as they are. Rows with equal keys are together, those of two persons with one hash, too.
namespace dpquantile {

inline constexpr Size kMostFetched = 16384;

// The node's name in EXPLAIN.
inline constexpr char kPersonOrderName[] = "PersonOrder";

// What the planner tells the node, as a mark in custom_private: the keys, of which the first is the
// hash. Columns are those of the child, from 1.
struct PersonOrderPlan {
  List* columns;      // of integers
  List* operators;    // of OIDs: <
  List* collations;   // of OIDs
  List* nulls_first;  // of integers
  bool is_grouping;   // rows with equal keys may come in any order, and values stay as they are

  static constexpr MarkKind kKind = {"dpquantile person order", 2};
  void each_field(MarkFields* fields);
};

// The node in the place of a sort, of which the first key is the hash.
Plan* sorted_by_persons(const Sort* sort);

// The node below a grouping, of which the key with number `hash`, from 0, is the hash. The rows of
// a group come one after the other. Null if the values of a key have no order.
Plan* grouped_by_persons(const Agg* grouping, int hash);

// Makes the node known to PostgreSQL. Call it once, when the library is loaded.
void install_person_order_node();

}  // namespace dpquantile
