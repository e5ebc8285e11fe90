#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/noisy_histogram/learned_bounds.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// A public grid over the numbers of rows of a person, from 1 on: those up to 15 have a cell each,
// and each octave after that has 8. Numbers of 2^40 and above belong to the last cell.
inline constexpr std::uint32_t kRowCells = 303;

// The cell of so many rows. Requires rows >= 1.
std::uint32_t cell_of_rows(std::uint64_t rows);

// The least number of rows in the cell. Cell kRowCells begins where the last one ends.
std::uint64_t least_rows(std::uint32_t cell);

// How many rows of each person to look at.
struct LearnedLimit {
  std::uint64_t limit;
  double rows;            // about how many rows there are
  double left_out;        // about how many of them are beyond the limit
  double left_out_error;  // the noise in that is smaller with a probability of about 95 %
};

// Finds the limit on the rows of a person by which an answer about them loses least: the rows that
// it leaves out, and the noise, which grows with it. `persons` has the number of persons in each of
// kRowCells cells, or in the first of them, at most 2^62 in all. `noise_of_one` is the mean
// absolute noise of a number of rows with a limit of 1, above 0. `most` is the largest limit, at
// least 1. None if there are too few persons, some 30/epsilon.
//
// Adds noise to each number as learn_bounds() does, and reads the rest off these
// (limit_of_noisy_counts()).
//
// Privacy: epsilon-differentially private or rho-zCDP, by the measure, for adding or removing one
// person with all rows (docs/privacy/learned.md, Theorem 25e).
//
// Errors: as learn_bounds().
std::optional<LearnedLimit> learn_limit(std::span<const std::uint64_t> persons,
                                        const PrivacyParameter& privacy, double noise_of_one,
                                        std::uint64_t most, const MechanismContext& context);

// What follows from noisy numbers of persons. The limit is at most the number of rows up to which
// there are persons for sure (cells_with_records()): some 30/epsilon persons may have more. Of
// these, those with up to 4 times as many are in what is told of the rows, too. Noise in cells
// farther away would be taken for very many rows, so of the rows of single persons with far more
// than all others nothing is told.
//
// Not private by itself: it is post-processing, a function of its arguments.
std::optional<LearnedLimit> limit_of_noisy_counts(std::span<const std::int64_t> noisy,
                                                  const CountNoise& noise, double noise_of_one,
                                                  std::uint64_t most,
                                                  std::pmr::memory_resource* memory);

}  // namespace dpquantile
