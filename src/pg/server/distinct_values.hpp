#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// The operator family of the default = of a type, that of its btree indexes. InvalidOid if it has
// none.
Oid equality_family(Oid type);

// Whether no two of the values are equal by that =. Sorts them. None of them may be NULL.
// ereports if the type has no such =.
bool are_distinct(Datum* values, int count, Oid type, Oid collation);

}  // namespace dpquantile
