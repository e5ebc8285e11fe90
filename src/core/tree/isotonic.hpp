#pragma once

#include <memory_resource>
#include <span>

namespace dpquantile {

// Replaces the values by the non-decreasing sequence with the least sum of squared differences from
// them (Manohar's smoothing). It pools adjacent violators: value k becomes the minimum over j >= k
// of the maximum over i <= j of the mean of values i .. j. Takes O(values) time, and O(values)
// scratch memory from `memory`.
//
// If every value differs by at most e from some non-decreasing sequence, so does the result
// (docs/privacy.md, Theorem 7).
//
// Privacy: post-processing, which costs no privacy.
void make_monotone(std::span<double> values, std::pmr::memory_resource* memory);

}  // namespace dpquantile
