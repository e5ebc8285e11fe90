#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "core/contributions/grid_suppression.hpp"
#include "core/contributions/user_rows.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"

// The mean and the variance of every grid, with one guarantee for all grids of a user together.
// Source of the suppression: grid_suppression.hpp. Statement and proofs: docs/privacy.md,
// "User-level means and variances".
namespace dpquantile {

// The mean and the variance of one grid and how far each can be off: the worst-case left-out error
// of suppression plus the expected magnitude of the noise (both public).
struct GridStatistics {
  std::uint32_t grid;
  std::uint32_t mean;      // FixedPoint units
  std::uint32_t variance;  // in units of U^2 / kOne, 0 .. kOne / 4
  GridCounts counts;
  double mean_error;      // in units of U
  double variance_error;  // in units of U^2
};

struct GridRelease {
  std::pmr::vector<GridStatistics> grids;  // by ascending grid; only grids with rows
  std::uint32_t grids_per_user;            // K, the most grids of one user after suppression
  // E_thresh: no grid's error exceeds it; mean and variance errors are added as if upper - lower
  // were 1.
  double error_bound;
};

// Releases the statistics of all grids. `rows` must be grouped by Contribution::kUserInGrid, and
// the grids numbered from 0 to `grids` - 1 without gaps. `suppress` says whether chop_users or
// keep_all_users decides which users are kept. Suppression runs at epsilon / max G_l (or rho /
// max G_l) for every grid, where G_l is the number of grids of user l before suppression, so that
// no grid's worst-case error exceeds error_bound. The statistics then get the larger epsilon / K
// (or rho / K) for every grid, one half for the mean and one half for the variance.
//
// Privacy: epsilon-differentially private or rho-zCDP, all grids together, for replacing the values
// of one user; the grids, the users and how many rows each has in each grid are public.
//
// Throws ParameterError (check_privacy_parameter; or epsilon / (2 K) below 2^-24, rho / (2 K) below
// 2^-50), std::length_error (rows), RandomnessUnavailable, Cancelled, std::bad_alloc.
GridRelease user_grid_stats(const UserRows& rows, std::uint32_t grids,
                            const PrivacyParameter& privacy, bool suppress,
                            const MechanismContext& context);

}  // namespace dpquantile
