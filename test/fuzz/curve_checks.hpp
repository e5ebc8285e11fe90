#pragma once

#include "core/cdf/cdf_curve.hpp"

namespace dpquantile::fuzz {

// Asks a curve everything that SQL can ask, and checks that the answers are in range.
void check_curve(const CdfCurve& curve);

}  // namespace dpquantile::fuzz
