#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/noisy_histogram/learned_bounds.hpp"
#include "core/noisy_histogram/ordinal_grid.hpp"
#include "core/privacy/mechanism.hpp"

// Bounds of values of which nothing is known, by up to two looks.
//
// A grid for all values has wide cells far from 0: of some hundred days for times of this year, of
// four years for the same times as numbers of seconds. Values that lie close together there would
// get bounds that are many times as wide as they are. So the first look has a quarter of epsilon.
// If it finds a range of very few cells, the second look has the other three quarters, and counts
// the values in the cells of a grid around the middle of that range. Otherwise there is no second
// look: then the first one is taken once more, with all of epsilon, as if the quarter had never
// been seen. That costs no more, because noise for a quarter is noise for all of epsilon and some
// more on top (nested_laplace.hpp).
//
// Privacy: both functions together are epsilon-differentially private for adding or removing one
// record (docs/privacy.md, Theorem 25f).
//
// Both throw ParameterError unless epsilon is 2^-30 to 2^10, RandomnessUnavailable, Cancelled,
// std::bad_alloc, and std::overflow_error as the samplers do. They take O(cells) memory and time.
namespace dpquantile {

// Where a second look is worth it: a grid of the distances from `origin`.
struct CloserLook {
  OrdinalGrid grid;
  double origin;
  LearnedBounds found;  // by the first look

  // The cell of a value, infinities included. The value must not be NaN.
  std::uint32_t cell_of(double value) const { return grid.cell_of(value - origin); }
};

// Bounds, if any, unless a closer look is to come.
struct FirstLook {
  std::optional<LearnedBounds> bounds;
  std::optional<CloserLook> closer;
};

// What is known of all values. A range in which they are closer than least_width needs no closer
// look.
struct AllValues {
  double lower;
  double upper;
  double least_width;
};

// `counts` has the number of values in each cell of the grid, at most 2^62 in all.
FirstLook look_for_bounds(const OrdinalGrid& grid, std::span<const std::uint64_t> counts,
                          double epsilon, const AllValues& all, const MechanismContext& context);

// `counts` has the number of values in each cell of the closer look, at most 2^62 in all; epsilon
// is that of both looks. If nothing is found, the bounds are those that the first look found.
LearnedBounds look_closer(const CloserLook& look, std::span<const std::uint64_t> counts,
                          double epsilon, const MechanismContext& context);

// The first look has one of so many parts of epsilon.
inline constexpr int kLooks = 4;

}  // namespace dpquantile
