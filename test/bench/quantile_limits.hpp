#pragma once

#include "core/privacy/random.hpp"

namespace dpquantile::bench {

// Prints the rank errors of the methods for quantiles beside the limits for every mechanism, for
// rows that are spread over the value grid and for the data sets that are hard to answer.
void print_quantile_limits(int draws, RandomStream& random);

}  // namespace dpquantile::bench
