#pragma once

#include "pg/protect/judged_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// concat() and concat_ws() take arguments of any types, and write them by functions that the query
// does not name. Over rows their place takes what says the same with casts, || and coalesce(), of
// which each is checked as any other.
namespace dpquantile {

// Has the arguments of the call, not copies, as calls may be deep in one another, and the separator
// in many places. Null if the node is no such call, or one that cannot be written so: with
// VARIADIC, or with a separator of rows.
Node* without_concatenation(const Node* node);

// put_text_for_row() for an aggregate of different values. ereports if a value is of a type of
// which equal ones may look different.
void count_text_for_row(const JudgedLevel* level, Aggref* call);

}  // namespace dpquantile
