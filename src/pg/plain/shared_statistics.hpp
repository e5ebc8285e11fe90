#pragma once

#include "pg/plain/plain_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// Several statistics of one column from one private release: its count, sum, mean, sample variance
// and sample standard deviation are those of one dp_stats, at the price of one aggregate.
// Percentiles of a column are those of one dp_cdf if the error of one of them is asked.
namespace dpquantile {

// The calls that ask for a statistic of a column of which the level, in its columns or HAVING, asks
// for several, or for an error: Aggref. NIL if there is none. A count of all rows is one of the
// first such column without NULLs.
List* find_shared_statistics(const PlainLevel* level);

// The answer to a standard aggregate that is shared, with its type; null if it is not.
Node* shared_statistic(const PlainLevel* level, const List* shared, const Aggref* call);

// The error of the answer to a standard aggregate, as float8. Refuses one that has none.
Node* error_of_statistic(const PlainLevel* level, const List* shared, const Aggref* call);

}  // namespace dpquantile
