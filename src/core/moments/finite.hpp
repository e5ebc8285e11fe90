#pragma once

#include <algorithm>
#include <limits>

namespace dpquantile {

// The value; beyond the range of doubles the largest double of its sign. `value` is not NaN.
inline double finite(double value) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(value, -kMost, kMost);
}

}  // namespace dpquantile
