#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// Searches in arrays by a function that has a variant, such as LIKE: the variant searches no array.
//
//   name LIKE ANY ('{A%,B%}')       becomes   name LIKE 'A%' OR name LIKE 'B%'
//   name NOT LIKE ALL ('{A%,B%}')   becomes   name NOT LIKE 'A%' AND name NOT LIKE 'B%'
namespace dpquantile {

// A search in a literal array as comparisons with its elements, not rewritten yet: all share what
// is searched, as a copy for each would multiply with each search in it. A constant if there is no
// element. Null for other nodes.
Node* without_array_search(const Node* node);

}  // namespace dpquantile
