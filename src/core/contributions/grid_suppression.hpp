#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/workspace.hpp"

// Statistics of many grids: how many grids one user may sit in. Source: CHOP-USER of Rameshwar et
// al. 2024b, "Improving the Privacy Loss Under User-Level DP Composition for Fixed Estimation
// Error" (arXiv:2405.06261). Everything here is a function of public counts and costs nothing.
namespace dpquantile {

// The mean and the variance.
inline constexpr std::uint32_t kStatisticsPerGrid = 2;

// A user has so many rows in a grid.
struct Occupancy {
  std::uint32_t user;  // index
  std::uint32_t grid;  // index
  std::uint64_t rows;  // at least 1
};

// The public figures of one grid after some of its users are suppressed: their rows do not count.
struct GridCounts {
  std::uint64_t all = 0;   // rows of all users
  std::uint64_t kept = 0;  // rows of the users kept
  std::uint64_t most = 0;  // most rows of a user kept
  std::uint64_t users_kept = 0;
};

// Expected noise of the mean plus that of the variance, in units of U and of U^2, when the grid's
// epsilon is shared by both: 2 (sensitivity of the mean + sensitivity of the variance) / epsilon.
// Infinite for a grid without rows kept.
double grid_noise(const GridCounts& counts, double epsilon);

// The worst-case error of a grid: the largest clipping error of its mean and its variance, plus
// grid_noise. The units are U and U^2 as if U were 1, so that the choice does not depend on the
// units of measurement (the source adds km/h and (km/h)^2).
double grid_error(const GridCounts& counts, double epsilon);

struct Suppression {
  std::pmr::vector<std::uint8_t> kept;  // by occupancy: 1 if kept, 0 if suppressed
  std::pmr::vector<GridCounts> grids;   // by grid
  std::uint32_t grids_per_user = 0;     // K: the most grids of a user afterwards
  double threshold = 0;                 // E_thresh; grid_error is at most this in every grid
};

// Nobody is suppressed. Errors are those at epsilon / max G_l in every grid, as in chop_users.
Suppression keep_all_users(std::span<const Occupancy> occupancies, std::uint32_t grids,
                           double epsilon, const Workspace& work);

// CHOP-USER, with errors at epsilon / max G_l, where G_l is the number of grids of a user before.
// E_thresh is the largest grid_noise before. In rounds, every user who sits in the most grids
// leaves the one where the worst-case error after leaving is least, as long as it does not exceed
// E_thresh; a round in which some user cannot leave any is undone (it would suppress users without
// making K smaller), and ends the procedure. Nobody leaves the last grid, and no grid loses its
// last user. Users leave in the order of their index, and the first of equal grids.
//
// The occupancies must be ordered by user, each pair of user and grid once, with grid < grids. Time
// O(sum over users of G_l^2) in the worst case.
Suppression chop_users(std::span<const Occupancy> occupancies, std::uint32_t grids, double epsilon,
                       const Workspace& work);

}  // namespace dpquantile
