#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// Whether an aggregate of PostgreSQL's is an exact and total function of the values that it gets:
// to the last bit and digit, whatever their order, and without an error for any of them.
bool is_exact_aggregate(Oid aggregate);

}  // namespace dpquantile
