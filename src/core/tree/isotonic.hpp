#pragma once

#include <memory_resource>
#include <span>

namespace dpquantile {

// Replaces the values by the non-decreasing sequence nearest to them in the sum of squares, by
// pooling adjacent violators: value k becomes the minimum over j >= k of the maximum over i <= j
// of the mean of values i .. j (Manohar's smoothing). O(values) time and scratch memory.
//
// If all values lie within e of some non-decreasing sequence, the result does too. Post-processing:
// it costs no privacy.
void make_monotone(std::span<double> values, std::pmr::memory_resource* memory);

}  // namespace dpquantile
