#include "core/contributions/grid_suppression.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/contributions/user_sensitivity.hpp"

namespace dpquantile {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The kept users of one grid, counted by their number of rows.
class GridUsers {
 public:
  explicit GridUsers(std::pmr::memory_resource* memory) : users_with_(memory) {}

  void add(std::uint64_t rows) {
    ++users_with_[rows];
    counts_.kept += rows;
    ++counts_.users_kept;
    update_most();
  }
  void add_initially(std::uint64_t rows) {
    counts_.all += rows;
    add(rows);
  }
  void remove(std::uint64_t rows) {
    const auto found = users_with_.find(rows);
    if (--found->second == 0) users_with_.erase(found);
    counts_.kept -= rows;
    --counts_.users_kept;
    update_most();
  }

  const GridCounts& counts() const { return counts_; }
  GridCounts counts_without(std::uint64_t rows) const {
    GridCounts without = counts_;
    without.kept -= rows;
    --without.users_kept;
    if (rows == counts_.most) without.most = next_most_;
    return without;
  }

 private:
  // Sets the most rows of a user, and the most after one such user has left.
  void update_most() {
    auto largest = users_with_.rbegin();
    counts_.most = largest == users_with_.rend() ? 0 : largest->first;
    next_most_ = counts_.most;
    if (largest == users_with_.rend() || largest->second > 1) return;
    ++largest;
    next_most_ = largest == users_with_.rend() ? 0 : largest->first;
  }

  std::pmr::map<std::uint64_t, std::uint32_t> users_with_;
  GridCounts counts_;
  std::uint64_t next_most_ = 0;
};

// The occupancies of one user.
struct UserSpan {
  std::size_t begin;
  std::size_t end;
  std::uint32_t grids_kept;
};

class ChopUsers {
 public:
  ChopUsers(std::span<const Occupancy> occupancies, std::uint32_t grids, double epsilon,
            const Workspace& work)
      : occupancies_(occupancies),
        work_(work),
        grids_(work.memory),
        users_(work.memory),
        departures_(work.memory),
        kept_(occupancies.size(), std::uint8_t{1}, work.memory) {
    grids_.reserve(grids);
    for (std::uint32_t grid = 0; grid < grids; ++grid) grids_.emplace_back(work.memory);
    for (std::size_t i = 0; i < occupancies.size(); ++i) enter(i);
    most_before_ = most_grids();
    epsilon_ = epsilon / std::max(1U, most_before_);
    threshold_ = largest_noise();
  }

  void suppress() {
    for (std::uint32_t most = most_before_; most > 1; --most) {
      departures_.clear();
      if (!round(most)) {
        undo_round();
        return;
      }
    }
  }

  Suppression result() {
    Suppression suppression{kept_, std::pmr::vector<GridCounts>(work_.memory), most_grids(),
                            threshold_};
    suppression.grids.reserve(grids_.size());
    for (const GridUsers& grid : grids_) suppression.grids.push_back(grid.counts());
    return suppression;
  }

 private:
  void enter(std::size_t i) {
    work_.cancel.tick();
    const bool same_user = i > 0 && occupancies_[i].user == occupancies_[i - 1].user;
    if (!same_user) users_.push_back({i, i, 0});
    users_.back().end = i + 1;
    ++users_.back().grids_kept;
    grids_[occupancies_[i].grid].add_initially(occupancies_[i].rows);
  }

  std::uint32_t most_grids() const {
    std::uint32_t most = 0;
    for (const UserSpan& user : users_) most = std::max(most, user.grids_kept);
    return most;
  }

  double largest_noise() const {
    double largest = 0;
    for (const GridUsers& grid : grids_) {
      if (grid.counts().all == 0) continue;
      largest = std::max(largest, grid_noise(grid.counts(), epsilon_));
    }
    return largest;
  }

  // Every user in `most` grids leaves one; false as soon as one of them cannot.
  bool round(std::uint32_t most) {
    for (UserSpan& user : users_) {
      work_.cancel.tick();
      if (user.grids_kept < most) continue;
      const std::size_t leaving = cheapest_to_leave(user);
      if (leaving == user.end) return false;
      leave(user, leaving);
    }
    return true;
  }

  // Finds the grid with the least error after the user has left it, if that is at most the
  // threshold. Returns its occupancy; user.end if there is none.
  std::size_t cheapest_to_leave(const UserSpan& user) {
    std::size_t best = user.end;
    double least = kInfinity;
    for (std::size_t i = user.begin; i < user.end; ++i) {
      work_.cancel.tick();
      if (kept_[i] == 0) continue;
      const GridUsers& grid = grids_[occupancies_[i].grid];
      const double error = grid_error(grid.counts_without(occupancies_[i].rows), epsilon_);
      if (error > threshold_ || error >= least) continue;
      least = error;
      best = i;
    }
    return best;
  }

  void leave(UserSpan& user, std::size_t i) {
    grids_[occupancies_[i].grid].remove(occupancies_[i].rows);
    kept_[i] = 0;
    --user.grids_kept;
    departures_.push_back({&user, i});
  }

  void undo_round() {
    for (const Departure& departure : departures_) {
      const Occupancy& occupancy = occupancies_[departure.occupancy];
      grids_[occupancy.grid].add(occupancy.rows);
      kept_[departure.occupancy] = 1;
      ++departure.user->grids_kept;
    }
  }

  struct Departure {
    UserSpan* user;
    std::size_t occupancy;
  };

  std::span<const Occupancy> occupancies_;
  Workspace work_;
  std::pmr::vector<GridUsers> grids_;
  std::pmr::vector<UserSpan> users_;
  std::pmr::vector<Departure> departures_;  // in the current round
  std::pmr::vector<std::uint8_t> kept_;
  std::uint32_t most_before_ = 0;
  double epsilon_ = 0;  // of one grid
  double threshold_ = 0;
};

}  // namespace

std::uint32_t most_grids_of_a_user(std::span<const Occupancy> occupancies) {
  std::uint32_t most = 0;
  std::uint32_t grids = 0;
  for (std::size_t i = 0; i < occupancies.size(); ++i) {
    grids = i > 0 && occupancies[i].user == occupancies[i - 1].user ? grids + 1 : 1;
    most = std::max(most, grids);
  }
  return most;
}

double grid_noise(const GridCounts& counts, double epsilon) {
  if (counts.kept == 0) return kInfinity;
  const double sensitivities = mean_sensitivity_fraction(counts.kept, counts.most) +
                               variance_sensitivity_fraction(counts.kept, counts.most);
  return kStatisticsPerGrid * sensitivities / epsilon;
}

double grid_error(const GridCounts& counts, double epsilon) {
  if (counts.kept == 0) return kInfinity;
  return mean_left_out_error(counts.all, counts.kept) +
         variance_left_out_error(counts.all, counts.kept) + grid_noise(counts, epsilon);
}

Suppression keep_all_users(std::span<const Occupancy> occupancies, std::uint32_t grids,
                           double epsilon, const Workspace& work) {
  return ChopUsers(occupancies, grids, epsilon, work).result();
}

Suppression chop_users(std::span<const Occupancy> occupancies, std::uint32_t grids, double epsilon,
                       const Workspace& work) {
  ChopUsers procedure(occupancies, grids, epsilon, work);
  procedure.suppress();
  return procedure.result();
}

}  // namespace dpquantile
