#include "core/contributions/grid_suppression.hpp"
#include "support/context_testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace dpquantile {
namespace {

using test::TestWorkspace;

const TestWorkspace work;

using Occupancies = std::vector<Occupancy>;

Occupancies random_occupancies(std::mt19937_64& random, std::uint32_t users, std::uint32_t grids) {
  Occupancies all;
  for (std::uint32_t user = 0; user < users; ++user) {
    for (std::uint32_t grid = 0; grid < grids; ++grid) {
      const std::uint64_t rows = 1 + random() % (user % 5 == 0 ? 200 : 9);
      if (random() % (2 + user % 3) == 0) all.push_back({user, grid, rows});
    }
  }
  return all;
}

// Computes everything anew in every step.
class NaiveChop {
 public:
  NaiveChop(Occupancies all, std::uint32_t grids, double epsilon)
      : all_(std::move(all)),
        kept_(all_.size(), 1),
        grids_(grids),
        epsilon_(epsilon / std::max(1U, most_grids())) {
    for (std::uint32_t grid = 0; grid < grids_; ++grid) {
      const GridCounts counts = counts_of(grid, kept_);
      if (counts.all > 0) threshold_ = std::max(threshold_, grid_noise(counts, epsilon_));
    }
  }

  void suppress() {
    while (most_grids() > 1) {
      const std::vector<std::uint8_t> before = kept_;
      if (!round(most_grids())) {
        kept_ = before;
        return;
      }
    }
  }

  std::uint32_t most_grids() const {
    std::uint32_t most = 0;
    for (const auto& [user, kept] : grids_by_user()) most = std::max(most, kept);
    return most;
  }
  GridCounts counts_of(std::uint32_t grid, const std::vector<std::uint8_t>& kept) const {
    GridCounts counts;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].grid != grid) continue;
      counts.all += all_[i].rows;
      if (kept[i] == 0) continue;
      counts.kept += all_[i].rows;
      counts.most = std::max(counts.most, all_[i].rows);
      ++counts.users_kept;
    }
    return counts;
  }
  const std::vector<std::uint8_t>& kept() const { return kept_; }
  double threshold() const { return threshold_; }
  double epsilon_of_grid() const { return epsilon_; }

 private:
  std::map<std::uint32_t, std::uint32_t> grids_by_user() const {
    std::map<std::uint32_t, std::uint32_t> grids;
    for (std::size_t i = 0; i < all_.size(); ++i) grids[all_[i].user] += kept_[i];
    return grids;
  }

  bool round(std::uint32_t most) {
    for (const auto& [user, kept] : grids_by_user()) {
      if (kept == most && !leave_best(user)) return false;
    }
    return true;
  }

  bool leave_best(std::uint32_t user) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t best = all_.size();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].user != user || kept_[i] == 0) continue;
      std::vector<std::uint8_t> without = kept_;
      without[i] = 0;
      const double error = grid_error(counts_of(all_[i].grid, without), epsilon_);
      if (error > threshold_ || error >= least) continue;
      least = error;
      best = i;
    }
    if (best == all_.size()) return false;
    kept_[best] = 0;
    return true;
  }

  Occupancies all_;
  std::vector<std::uint8_t> kept_;
  std::uint32_t grids_;
  double epsilon_;
  double threshold_ = 0;
};

void expect_same(const Occupancies& all, std::uint32_t grids, double epsilon) {
  NaiveChop naive(all, grids, epsilon);
  naive.suppress();
  const Suppression suppression = chop_users(all, grids, epsilon, work);
  ASSERT_TRUE(std::equal(naive.kept().begin(), naive.kept().end(), suppression.kept.begin(),
                         suppression.kept.end()));
  EXPECT_EQ(suppression.grids_per_user, naive.most_grids());
  EXPECT_EQ(suppression.threshold, naive.threshold());
  for (std::uint32_t grid = 0; grid < grids; ++grid) {
    const GridCounts expected = naive.counts_of(grid, naive.kept());
    const GridCounts& counts = suppression.grids[grid];
    EXPECT_EQ(counts.all, expected.all);
    EXPECT_EQ(counts.kept, expected.kept);
    EXPECT_EQ(counts.most, expected.most);
    EXPECT_EQ(counts.users_kept, expected.users_kept);
    if (counts.all > 0) {
      EXPECT_LE(grid_error(counts, naive.epsilon_of_grid()), suppression.threshold);
    }
  }
}

TEST(ChopUsers, AgreesWithTheNaiveProcedureAndKeepsTheThreshold) {
  std::mt19937_64 random(21);
  int suppressed = 0;
  for (unsigned round = 0; round < 60; ++round) {
    const auto grids = static_cast<std::uint32_t>(1 + random() % 8);
    const Occupancies all = random_occupancies(random, 1 + round % 30, grids);
    const Suppression unsuppressed = keep_all_users(all, grids, 1, work);
    for (const double epsilon : {0.003, 0.03, 0.3, 3.0}) {
      expect_same(all, grids, epsilon);
      const Suppression suppression = chop_users(all, grids, epsilon, work);
      suppressed += suppression.grids_per_user < unsuppressed.grids_per_user;
    }
  }
  EXPECT_GT(suppressed, 20);
}

TEST(ChopUsers, KeepsEveryUserAndEveryGrid) {
  std::mt19937_64 random(22);
  for (int round = 0; round < 40; ++round) {
    const Occupancies all = random_occupancies(random, 25, 6);
    const Suppression suppression = chop_users(all, 6, 0.005, work);
    std::map<std::uint32_t, int> of_user;
    std::map<std::uint32_t, int> of_grid;
    for (std::size_t i = 0; i < all.size(); ++i) {
      of_user[all[i].user] += suppression.kept[i];
      of_grid[all[i].grid] += suppression.kept[i];
    }
    for (const auto& [user, grids] : of_user) {
      EXPECT_GE(grids, 1);
      EXPECT_LE(grids, static_cast<int>(suppression.grids_per_user));
    }
    for (const auto& [grid, users] : of_grid) EXPECT_GE(users, 1);
  }
}

// One heavy user in 12 grids of light users.
TEST(ChopUsers, SuppressesMoreForSmallEpsilon) {
  Occupancies all;
  for (std::uint32_t grid = 0; grid < 12; ++grid) all.push_back({0, grid, 40});
  for (std::uint32_t user = 1; user <= 600; ++user) {
    all.push_back({user, user % 12, 10});
  }
  std::uint32_t before = 0;
  for (const double epsilon : {0.01, 1.0, 6.0, 24.0, 1000.0}) {
    const Suppression suppression = chop_users(all, 12, epsilon, work);
    EXPECT_GE(suppression.grids_per_user, before);
    before = suppression.grids_per_user;
  }
  EXPECT_EQ(chop_users(all, 12, 0.01, work).grids_per_user, 1U);
  EXPECT_EQ(before, 12U);
}

TEST(ChopUsers, UndoesARoundThatCannotBeFinished) {
  // The first user could leave either of its grids, but the second is alone in both of its own.
  Occupancies all = {{0, 0, 1}, {0, 1, 1}, {1, 2, 5}, {1, 3, 5}};
  for (std::uint32_t user = 2; user < 102; ++user) all.push_back({user, user % 2, 1});
  const Suppression suppression = chop_users(all, 4, 2, work);
  EXPECT_EQ(suppression.grids_per_user, 2U);
  for (const std::uint8_t kept : suppression.kept) EXPECT_EQ(kept, 1);
  EXPECT_EQ(suppression.grids[0].kept, 51U);
  EXPECT_EQ(suppression.grids[0].users_kept, 51U);

  all.erase(all.begin() + 3);
  EXPECT_EQ(chop_users(all, 4, 2, work).grids_per_user, 1U);
}

// The threshold is the noise of the first grid, 2 (9/16 + 1/4). Without the first user's 4 of 8
// rows the error of the second grid is 1/2 + 1/4 + 2 (1/4 + 3/16), the same.
TEST(ChopUsers, SuppressesAUserWhenTheErrorOnlyReachesTheThreshold) {
  const Occupancies all = {{0, 0, 9}, {0, 1, 4}, {1, 0, 7}, {2, 1, 1},
                           {3, 1, 1}, {4, 1, 1}, {5, 1, 1}};
  const Suppression suppression = chop_users(all, 2, 2, work);
  EXPECT_EQ(suppression.threshold, 1.625);
  EXPECT_EQ(suppression.grids_per_user, 1U);
  EXPECT_EQ(suppression.kept[1], 0);
}

TEST(KeepAllUsers, SuppressesNobody) {
  std::mt19937_64 random(23);
  const Occupancies all = random_occupancies(random, 20, 5);
  const Suppression suppression = keep_all_users(all, 5, 0.05, work);
  const NaiveChop naive(all, 5, 0.05);
  EXPECT_EQ(suppression.grids_per_user, naive.most_grids());
  EXPECT_EQ(suppression.threshold, naive.threshold());
  for (const std::uint8_t kept : suppression.kept) EXPECT_EQ(kept, 1);
}

TEST(ChopUsers, SuppressesNothingWithoutRows) {
  const Suppression suppression = chop_users({}, 0, 1, work);
  EXPECT_EQ(suppression.grids_per_user, 0U);
  EXPECT_EQ(suppression.threshold, 0);
}

TEST(GridNoise, IsTwiceTheSensitivitiesOverEpsilon) {
  EXPECT_DOUBLE_EQ(grid_noise({10, 10, 1, 10}, 0.5), 2 * (0.1 + 0.09) / 0.5);
  EXPECT_DOUBLE_EQ(grid_error({12, 10, 1, 10}, 0.5),
                   2.0 / 12 + 2.0 * 10 / 144 + 2 * (0.1 + 0.09) / 0.5);
  EXPECT_EQ(grid_noise({10, 0, 0, 0}, 1), std::numeric_limits<double>::infinity());
}

TEST(MostGridsOfAUser, CountsTheGridsOfEachUser) {
  EXPECT_EQ(most_grids_of_a_user({}), 0U);
  const std::vector<Occupancy> one = {{0, 3, 1}};
  EXPECT_EQ(most_grids_of_a_user(one), 1U);
  const std::vector<Occupancy> several = {{0, 0, 1}, {0, 1, 9}, {1, 0, 2}, {1, 1, 1},
                                          {1, 5, 1}, {2, 1, 1}, {2, 2, 1}};
  EXPECT_EQ(most_grids_of_a_user(several), 3U);
}

}  // namespace
}  // namespace dpquantile
