#pragma once

#include "pg/parameters/family.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace dpquantile {

// ereports if PostgreSQL would convert the value of every row of the call to another type, with a
// cast that fails for some values: a date to a timestamp, as in dp_median(born, 0.5, timestamp
// '1920-01-01', ...). Whether such an error comes depends on the rows. A cast that the analyst
// wrote stays.
void check_value_cast(const Aggref* call, const FamilyRow& family);

}  // namespace dpquantile
