#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/workspace.hpp"

namespace dpquantile {

// How BestFit packs the kept rows of the users into arrays.
struct Packing {
  std::pmr::vector<std::uint32_t> array_of;  // by user: the index of the array
  std::pmr::vector<std::uint64_t> fills;     // by array: its number of rows
};

// BestFit (Rameshwar et al. 2024a; docs/privacy.md, "User-level means and variances"): puts all
// rows of a user into the fullest array of length `capacity` that still has room for them, or into
// a new one. Users with more rows go first (best fit decreasing). Users with equally many rows keep
// their order. This order usually leaves fewer arrays partly filled than an order of arrival.
//
// The packing is a function of the public row counts and the order of the users alone: changing a
// user's values never moves anybody's rows to another array.
//
// Requires 1 <= rows[i] <= capacity, and fewer than 2^32 users. O(n log n) time for n users. Throws
// Cancelled, std::bad_alloc.
Packing best_fit(std::span<const std::uint64_t> rows, std::uint64_t capacity,
                 const Workspace& work);

}  // namespace dpquantile
