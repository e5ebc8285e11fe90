#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/workspace.hpp"

namespace dpquantile {

// Which array each user's kept rows go into, and how many rows that makes.
struct Packing {
  std::pmr::vector<std::uint32_t> array_of;  // by user
  std::pmr::vector<std::uint64_t> fills;     // by array: number of rows
};

// BestFit: puts each user's rows, whole, into the fullest array of length `capacity` that still has
// room for them, or into a new one. Users with more rows go first (best fit decreasing), which
// leaves fewer arrays partly filled than any order of arrival; among equals the earlier user.
// A function of the public row counts and the order of the users alone: changing a user's values
// never moves anybody's rows to another array.
//
// Requires 1 <= rows[i] <= capacity, and fewer than 2^32 users. O(U log U) time.
Packing best_fit(std::span<const std::uint64_t> rows, std::uint64_t capacity,
                 const Workspace& work);

}  // namespace dpquantile
