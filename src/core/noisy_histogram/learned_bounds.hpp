#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "core/noisy_histogram/ordinal_grid.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// lower < upper, both finite.
struct LearnedBounds {
  double lower;
  double upper;

  bool operator==(const LearnedBounds&) const = default;
};

// Finds bounds of values of which nothing is known. Adds independent discrete Laplace noise of
// scale 1 / epsilon, or discrete Gaussian noise of sigma^2 = 1 / (2 rho), to the number of values
// in each cell of the grid, and finds the bounds in the noisy counts by bounds_of_noisy_counts().
// `counts` has grid.cells() numbers, at most 2^62 in all.
//
// Privacy: epsilon-differentially private or rho-zCDP, by the measure, for adding or removing one
// record; that there are no bounds included (docs/privacy.md, Theorem 25b).
//
// Throws ParameterError as check_privacy_parameter() does, RandomnessUnavailable, Cancelled,
// std::bad_alloc, and std::overflow_error as the samplers do. O(cells) memory and time.
std::optional<LearnedBounds> learn_bounds(const OrdinalGrid& grid,
                                          std::span<const std::uint64_t> counts,
                                          const PrivacyParameter& privacy,
                                          const MechanismContext& context);

// The noise in a count: its measure tells its law, `spread` is IntegerNoise::spread().
struct CountNoise {
  PrivacyMeasure measure;
  double spread;
};

// What follows from noisy counts. It begins with the narrowest block of neighbouring cells, of up
// to an octave, that has more records than noise is ever likely to have (with a probability of
// e^-30), and of several with the one that has most. There are no bounds without one. From there
// each end moves outwards, block by block, to each block that has more records than noise is likely
// to have. The farther a block is from the end before it, the surer it must be, from e^-3 to e^-30:
// a bound that is a little too wide does little harm, and a bound that is 2^10 times too wide ruins
// an answer. An end moves outwards, cell by cell, also as long as the next kWidestBlock cells
// together have more records than noise is ever likely to have: records that are too sparse for an
// octave are not left outside for that. So 30/epsilon records are enough for bounds, and at each
// end some 3/epsilon to 30/epsilon of those near the bounds lie outside of them, and of any
// kWidestBlock neighbouring cells less than 100/epsilon noisy records (Theorem 25d). The
// probability that a bound is far from all data is stated in docs/privacy.md, Theorem 25c.
//
// An end that is small beside the other one is rounded outwards, to a multiple of some 2^-12 of
// that. One that is beyond 0 by less than some 2^-20 of that is rounded to 0, if no block beyond
// the cell there that is beside 0 has more records than noise is ever likely to have (Theorem 25d).
//
// Not private by itself: it is post-processing, a function of its arguments.
std::optional<LearnedBounds> bounds_of_noisy_counts(const OrdinalGrid& grid,
                                                    std::span<const std::int64_t> noisy,
                                                    const CountNoise& noise,
                                                    std::pmr::memory_resource* memory);

// Neighbouring cells, from begin to end - 1.
struct CellRange {
  std::size_t begin;
  std::size_t end;
};

// The cells between the ends that bounds_of_noisy_counts() finds, for cells of which 2^digits make
// an octave. Not private by itself.
std::optional<CellRange> cells_with_records(std::span<const std::int64_t> noisy, int digits,
                                            const CountNoise& noise,
                                            std::pmr::memory_resource* memory);

// The counts with noise as learn_bounds() adds it; the law of the noise is written to `noise`. At
// most 2^62 in all. Privacy, errors: as learn_bounds().
std::pmr::vector<std::int64_t> noisy_cell_counts(std::span<const std::uint64_t> counts,
                                                 const PrivacyParameter& privacy, CountNoise* noise,
                                                 const MechanismContext& context);

// How sure a block far from all others must be: with a probability of at most e^-this it is noise.
inline constexpr int kFarLevel = 30;

// Eight octaves of numbers, one of dates and times.
inline constexpr int kWidestBlock = 64;

// The number of records that `noise` alone makes of a block of empty cells, or more, with a
// probability of at most e^-level. Requires width >= 1, level > 0.
double noise_in_block(int width, double level, const CountNoise& noise);

}  // namespace dpquantile
