#pragma once

#include "pg/reuse/fields.hpp"

extern "C" {
#include "access/tupdesc.h"
}

namespace dpquantile {

// What the columns of answers are, as numbers: their types, with their versions and what they
// consist of, modifiers, collations and forms in memory. Returns false if that does not say what
// the values are in another session: the columns of an anonymous row are known to its session only.
bool add_columns(Fields* fields, TupleDesc columns);

}  // namespace dpquantile
