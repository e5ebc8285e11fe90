#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/cancel.hpp"
#include "core/privacy_parameter.hpp"
#include "core/histogram.hpp"
#include "core/random.hpp"

// Differentially private quantiles on a grid: ApproximateQuantiles (AQ) of Kaplan, Schnapp and
// Stemmer 2022, "Differentially Private Approximate Quantiles", with the single-quantile
// exponential mechanism of Smith 2011, on smeared grid cells instead of distinct points.
// Statement and proofs: docs/privacy.md, "Quantiles".
namespace dpquantile {

inline constexpr std::size_t kMaxQuantiles = 4096;

// Throws ParameterError unless there are 1 .. kMaxQuantiles quantiles, each in [0, 1].
void check_quantiles(std::span<const double> quantiles);

// The number of levels over which AQ spends its budget for this many distinct quantiles:
// floor(log2 m) + 1.
unsigned recursion_depth(std::size_t distinct_quantiles);

// For each requested quantile, in the order asked, the grid cell released for it. Quantiles may
// come in any order and repeat (a repeated one is drawn once); the answers are monotone in the
// quantile. `cells` is the size of the grid that `data` is counted on. Empty data are answered like
// any other: uniformly on the grid.
//
// Privacy: epsilon-differentially private for adding or removing one record, epsilon the total over
// all quantiles (each level of the recursion is (epsilon / depth)-bounded-range). The law is exact
// up to a total variation distance below 2^-50 on grids of up to 2^22 cells (docs/privacy.md).
//
// Throws ParameterError (epsilon, quantiles), RandomnessUnavailable, Cancelled, std::bad_alloc, and
// std::length_error beyond kMaxRecords records.
std::pmr::vector<std::uint32_t> approximate_quantiles(const Histogram& data, std::uint64_t cells,
                                                      std::span<const double> quantiles,
                                                      double epsilon, RandomStream& random,
                                                      CancelPoll& cancel,
                                                      std::pmr::memory_resource* memory);

}  // namespace dpquantile
