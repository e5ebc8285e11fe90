#pragma once

#include <string>

#include "core/privacy/random.hpp"

namespace dpquantile::bench {

// Statistics of many grids, with and without suppression: the effect of suppression on the privacy
// loss, and the errors of a release. Prints tables and verdicts. Writes charts into the directory
// unless its name is empty.
void measure_grids(int trials, const std::string& directory, RandomStream& random);

}  // namespace dpquantile::bench
