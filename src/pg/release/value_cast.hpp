#pragma once

#include "pg/parameters/family.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
}

// PostgreSQL brings the value and the bounds of a call to one type. No cast that fails for some
// values may come between a row and a private aggregate: whether the error comes depends on the
// rows. A cast that the analyst wrote stays.
namespace dpquantile {

// ereports if the aggregate does not take values of the type, or if PostgreSQL would convert those
// of every row with a cast that fails for some of them and is not left out below: a date to a
// timestamp, as in dp_median(born, 0.5, timestamp '1920-01-01', ...).
void check_value(const Aggref* call, const FamilyRow& family);

// The call, or a copy that takes numbers as they are in the rows (uncast_value).
Aggref* with_uncast_value(Aggref* call);

// The same for the partial states of parallel workers and of partitions: a copy of the path whose
// calls take numbers as they are. Null if the path is of an unknown kind.
Path* with_uncast_values(const Path* path);

}  // namespace dpquantile
