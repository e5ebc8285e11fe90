#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "core/contributions/grid_suppression.hpp"
#include "core/contributions/user_rows.hpp"
#include "core/privacy/mechanism_context.hpp"

// Mean and variance of every grid, with the budget that a user in several grids needs. Statement
// and proofs: docs/privacy.md, "User-level means and variances".
namespace dpquantile {

// Mean and variance of one grid, and by how much they can be off: the worst-case clipping error of
// suppression plus the expected magnitude of the noise (both public).
struct GridStatistics {
  std::uint32_t grid;
  std::uint32_t mean;      // FixedPoint units
  std::uint32_t variance;  // in units of U^2 / kOne, 0 .. kOne / 4
  GridCounts counts;
  double mean_error;      // in units of U
  double variance_error;  // in units of U^2
};

struct GridRelease {
  std::pmr::vector<GridStatistics> grids;  // by ascending grid; those with rows
  std::uint32_t grids_per_user;            // K, the most grids of a user after suppression
  double error_bound;                      // E_thresh, in units of U and U^2 as if U were 1
};

// `rows` must be grouped by Contribution::kUserInGrid, and the grids numbered from 0 without gaps
// up to `grids` - 1. Suppression runs at epsilon / max G_l a grid, so that the worst-case error of
// no grid exceeds error_bound; the statistics then get the larger epsilon / K a grid, half of it
// the mean and half the variance.
//
// Privacy: epsilon-differentially private, all grids together, for replacing the values of one
// user; the grids, the users and how many rows each has in each grid are public.
//
// Throws ParameterError (check_epsilon; or epsilon / (2 K) below 2^-24),
// std::length_error (rows), RandomnessUnavailable, Cancelled, std::bad_alloc.
GridRelease user_grid_stats(const UserRows& rows, std::uint32_t grids, double epsilon,
                            bool suppress, const MechanismContext& context);

}  // namespace dpquantile
