#pragma once

#include "core/privacy/random.hpp"
#include "user_data.hpp"

namespace dpquantile::bench {

// Prints the limit that no mechanism's error goes below if it protects against replacing a user,
// and the errors of the methods divided by it. Both are means over data sets in which some of the
// buses with the most rows drive at a steady speed, low or high, as some buses of `data` do on
// average.
void print_user_limits(const BusDataSets& data, RandomStream& random);

}  // namespace dpquantile::bench
