#pragma once

#include <cstdint>

// What the mechanisms that clip array means share. Neighbours replace one array's sum; the number
// of arrays and their fills are public.
namespace dpquantile {

// An array of BestFit: its number of rows (at least 1, public) and the sum of their values in
// FixedPoint units.
struct FilledArray {
  std::uint64_t rows;
  std::uint64_t sum;
};

// A closed interval in FixedPoint units, 0 <= low <= high <= kOne.
struct ClippingInterval {
  std::uint32_t low;
  std::uint32_t high;
};

}  // namespace dpquantile
