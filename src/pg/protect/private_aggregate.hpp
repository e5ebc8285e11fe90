#pragma once

#include "pg/protect/judged_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// The aggregates of a release block: each must be one of this extension's, charged before the first
// row, with parameters that depend on no row, and protect what the table protects: a row, or all
// rows of a person. An aggregate over rows of a table with persons sees at most max_rows rows of
// each. Any other aggregate would answer exactly, and one for single rows would answer for a person
// with a hundred rows with a hundredth of the promised protection. With these rules one row, or one
// person, costs what is charged (Lemma 34g of docs/privacy/relations.md).
namespace dpquantile {

// Checks a call of an aggregate, and rewrites what it takes from the rows. ereports unless it is
// private for what the relation protects: rows, or all rows of a person.
Node* rewrite_aggregate(JudgedLevel* level, Aggref* call);

// Whether an expression calls aggregates.
bool has_aggregate(const Node* expression);

// ereports if an aggregate in an expression of the block is none of this extension's: that is a
// clearer reason than what is wrong with the groups of such a query.
void require_private_aggregates(JudgedLevel* level, Node* expression);

}  // namespace dpquantile
