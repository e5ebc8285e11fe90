#pragma once

#include <cstdint>

namespace dpquantile {

// The arguments of the private aggregates. One that several aggregates have means the same in all.
// The families list theirs (pg/parameters/family_table.cpp), and an error may say which one it is
// about.
enum class Argument : std::uint8_t {
  kNone,
  // From each row:
  kUser,
  kGrid,
  kValue,
  kX,  // a second value
  // The same for all rows:
  kQuantiles,  // one number, or a list of them
  kSize,
  kEpsilon,
  kLower,
  kUpper,
  kXLower,
  kXUpper,
  kBinBounds,
  kDelta,
  kMaxGroups,
};

}  // namespace dpquantile
