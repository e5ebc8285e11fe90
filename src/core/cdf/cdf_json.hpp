#pragma once

#include <memory_resource>
#include <string>
#include <string_view>

#include "core/cdf/cdf_curve.hpp"

namespace dpquantile {

// How the text form of a curve shows its value type and the values of its domain. None of the texts
// has a character that JSON escapes.
struct CdfTypeText {
  std::string_view type;
  std::string_view lower;
  std::string_view upper;
  std::string_view granularity;  // of a discrete curve
};

// The curve as a JSON object, the text form of a dp_cdf: type (not for numbers), lower, upper,
// granularity (discrete curves only), bins, method, epsilon, branching and level_epsilon (by level;
// under zCDP rho and level_rho; not if the method has no tree), rows, and cumulative (the number of
// rows up to the end of each bin). `typed` is null for a curve of numbers. Throws std::bad_alloc.
std::pmr::string cdf_to_json(const CdfCurve& curve, const CdfTypeText* typed,
                             std::pmr::memory_resource* memory);

}  // namespace dpquantile
