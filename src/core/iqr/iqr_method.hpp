#pragma once

#include <cstdint>

namespace dpquantile {

// How an interquartile range is computed. The numbers are stored in aggregate states.
enum class IqrMethod : std::uint8_t {
  kProposeTestRelease = 1,  // interquartile_range() (iqr.hpp), without bounds
  kQuantiles = 2,           // IqrByQuantiles, within bounds
};

}  // namespace dpquantile
