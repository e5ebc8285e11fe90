#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/nodes.h"
}

// concat() and concat_ws() take arguments of any types, and write them by functions that the query
// does not name. Over rows their place takes what says the same with casts, || and coalesce(), of
// which each is checked as any other.
namespace dpquantile {

// Null if the node is no such call, or one that cannot be written so: with VARIADIC, or with a
// separator of rows.
Node* without_concatenation(const Node* node);

}  // namespace dpquantile
