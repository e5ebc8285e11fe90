#pragma once

#include <memory_resource>
#include <string>

#include "core/cdf/cdf_curve.hpp"

namespace dpquantile {

// The curve as a JSON object, the text form of a dp_cdf: lower, upper, granularity (discrete curves
// only), bins, method, epsilon, branching and level_epsilon (by level; under zCDP rho and
// level_rho), rows, and cumulative (the number of rows up to the end of each bin). Throws
// std::bad_alloc.
std::pmr::string cdf_to_json(const CdfCurve& curve, std::pmr::memory_resource* memory);

}  // namespace dpquantile
