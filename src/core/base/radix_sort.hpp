#pragma once

#include <cstdint>
#include <span>

#include "core/base/workspace.hpp"

namespace dpquantile {

// Sorts keys below `bound` (1 .. 2^32) ascending, by least significant digit first. O(n) time,
// scratch memory of the size of `keys`.
void radix_sort(std::span<std::uint32_t> keys, std::uint64_t bound, const Workspace& work);

// Sorts doubles ascending in the same way: -0 before +0, infinities at the ends, NaNs beyond them
// on the side of their sign. Always the same number of passes, so that the time does not tell
// which bits of the values are in use.
void radix_sort(std::span<double> values, const Workspace& work);

}  // namespace dpquantile
