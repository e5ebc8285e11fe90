#pragma once

#include "pg/plain/plain_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// Several statistics of one column from one private release: its count, sum, mean, sample variance
// and sample standard deviation are those of one dp_stats, at the price of one aggregate.
// Percentiles of a column are those of one dp_quantiles, and so in order; of one dp_cdf if the
// error of one of them is asked.
namespace dpquantile {

// Calls of a level, in its columns or HAVING: Aggref.
struct SharedStatistics {
  List* valued;       // ask for a statistic of a column of which another, or an error, is asked
  List* curves;       // percentiles whose error is asked
  List* percentiles;  // all percentiles at literal fractions
};

// Finds those of the level. A count of all rows is one of the first column without NULLs that is
// shared.
SharedStatistics find_shared_statistics(const PlainLevel* level);

// The answer to a standard aggregate that is shared, with its type; null if it is not.
Node* shared_statistic(const PlainLevel* level, const SharedStatistics& shared, const Aggref* call);

// The error of the answer to a standard aggregate, as float8. Refuses one that has none.
Node* error_of_statistic(const PlainLevel* level, const SharedStatistics& shared,
                         const Aggref* call);

}  // namespace dpquantile
