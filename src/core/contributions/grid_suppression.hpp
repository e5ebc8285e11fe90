#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/workspace.hpp"

// Suppression for the statistics of many grids: in how many grids one user may keep rows. Source:
// CHOP-USER of Rameshwar et al. 2024b, "Improving the Privacy Loss Under User-Level DP Composition
// for Fixed Estimation Error" (arXiv:2405.06261). Everything here is a function of public counts
// and costs no budget.
namespace dpquantile {

// The mean and the variance.
inline constexpr std::uint32_t kStatisticsPerGrid = 2;

// The rows of one user in one grid.
struct Occupancy {
  std::uint32_t user;  // index
  std::uint32_t grid;  // index
  std::uint64_t rows;  // at least 1
};

// The most grids of one user; 0 without users. The occupancies must be ordered by user, with each
// pair of user and grid once.
std::uint32_t most_grids_of_a_user(std::span<const Occupancy> occupancies);

// The public figures of one grid after some of its users are suppressed there. The rows of
// suppressed users are not kept.
struct GridCounts {
  std::uint64_t all = 0;   // rows of all users
  std::uint64_t kept = 0;  // rows of the users kept
  std::uint64_t most = 0;  // most rows of a kept user
  std::uint64_t users_kept = 0;
};

// The expected noise of the mean plus that of the variance, in units of U and of U^2, when both
// share the grid's epsilon: 2 (sensitivity of the mean + sensitivity of the variance) / epsilon.
// Infinite for a grid that keeps no rows.
double grid_noise(const GridCounts& counts, double epsilon);

// The worst-case error of a grid: the largest left-out errors of its mean and of its variance, plus
// grid_noise. It adds units of U and of U^2 as if U were 1, so that the choice does not depend on
// the units of measurement (the source adds km/h and (km/h)^2). Infinite for a grid that keeps no
// rows.
double grid_error(const GridCounts& counts, double epsilon);

struct Suppression {
  std::pmr::vector<std::uint8_t> kept;  // by occupancy: 1 if kept, 0 if suppressed
  std::pmr::vector<GridCounts> grids;   // by grid
  std::uint32_t grids_per_user = 0;     // K: the most grids that keep rows of one user
  double threshold = 0;                 // E_thresh; bounds grid_error in every grid with rows
};

// Suppresses nobody. The threshold is computed at epsilon / max G_l for every grid, as in
// chop_users. Throws Cancelled, std::bad_alloc.
Suppression keep_all_users(std::span<const Occupancy> occupancies, std::uint32_t grids,
                           double epsilon, const Workspace& work);

// CHOP-USER, with errors at epsilon / max G_l, where G_l is the number of grids of user l before
// suppression. E_thresh is the largest grid_noise before suppression.
//
// The procedure works in rounds. In each round, every user who is in the most grids leaves one
// grid: the one with the least worst-case error after the user has left, if that error does not
// exceed E_thresh. If some user cannot leave any grid, the round is undone, because it would
// suppress users without making K smaller, and the procedure ends. Nobody leaves their last grid,
// and no grid loses its last user. Users leave in the order of their index; of grids with equal
// errors they leave the first.
//
// The occupancies must be ordered by user, with each pair of user and grid once and every grid
// below `grids`. O(sum over users of G_l^2) time in the worst case. Throws Cancelled,
// std::bad_alloc.
Suppression chop_users(std::span<const Occupancy> occupancies, std::uint32_t grids, double epsilon,
                       const Workspace& work);

}  // namespace dpquantile
