#pragma once

#include "pg/server/nodes.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace dpquantile {

// A constant array of one dimension, of `count` elements of a type, none of which is NULL.
Node* array_constant(Datum* elements, int count, Oid type, Oid collation);

// Its elements as constants (Const), in the order of PostgreSQL's unnest(). The array is not NULL.
List* elements_of_array(const Const* array);

}  // namespace dpquantile
