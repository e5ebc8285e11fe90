#include "user_grid_accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "bench_figures.hpp"
#include "city_data.hpp"
#include "core/contributions/grid_suppression.hpp"
#include "core/user_level/user_grid_stats.hpp"
#include "line_chart.hpp"

namespace dpquantile::bench {

namespace {

constexpr std::uint64_t kSeed = 2;
constexpr std::size_t kCityBuses = 300;
constexpr std::size_t kHeavyHitterBuses = 240;
constexpr SpeedLaw kSpeeds{22, 12, 5};
constexpr double kEpsilonsPerGrid[] = {0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5};
constexpr double kTotalEpsilons[] = {0.5, 1, 2, 5, 10};

// A city with its rows grouped, and the true statistics of its grids.
class GridData {
 public:
  explicit GridData(CityData city)
      : city_(std::move(city)),
        cancel_(nullptr),
        grouped_(city_.rows, Contribution::kUserInGrid, {cancel_, std::pmr::new_delete_resource()}),
        moments_(city_.grids) {
    std::uint32_t user = 0;
    for (std::size_t i = 0; i < grouped_.size(); ++i) {
      if (i > 0 && grouped_.user(i) != grouped_.user(i - 1)) ++user;
      occupancies_.push_back({user, grouped_.grid(i), grouped_.count(i)});
    }
    users_ = user + 1;
    for (const UserRow& row : city_.rows) moments_[row.grid].add(row.value);
  }
  GridData(const GridData&) = delete;
  GridData& operator=(const GridData&) = delete;

  const UserRows& rows() const { return grouped_; }
  std::size_t row_count() const { return city_.rows.size(); }
  std::uint32_t users() const { return users_; }
  std::uint32_t grids() const { return city_.grids; }
  const std::vector<Occupancy>& occupancies() const { return occupancies_; }
  // In units of U, the variance in units of its square.
  double mean(std::uint32_t grid) const {
    const RowMoments& moments = moments_[grid];
    return static_cast<double>(moments.sum) / static_cast<double>(moments.count) / FixedPoint::kOne;
  }
  double variance(std::uint32_t grid) const {
    const RowMoments& moments = moments_[grid];
    return static_cast<double>(moments.squares) / static_cast<double>(moments.count) /
               FixedPoint::kOne / FixedPoint::kOne -
           mean(grid) * mean(grid);
  }

 private:
  CityData city_;
  CancelPoll cancel_;
  UserRows grouped_;
  std::vector<RowMoments> moments_;
  std::vector<Occupancy> occupancies_;
  std::uint32_t users_ = 0;
};

struct Claims {
  Claim not_more_grids;
  Claim bound_kept;
  Claim gain_for_small_epsilon;
  Claim never_falls_with_epsilon;
  Claim below_bound;
};

// --- Privacy loss --------------------------------------------------------------------------------

double rows_suppressed(const Suppression& suppression) {
  double all = 0;
  double kept = 0;
  for (const GridCounts& grid : suppression.grids) {
    all += static_cast<double>(grid.all);
    kept += static_cast<double>(grid.kept);
  }
  return 1 - kept / all;
}

double worst_error(const Suppression& suppression, double epsilon) {
  double worst = 0;
  for (const GridCounts& grid : suppression.grids) {
    if (grid.all > 0) worst = std::max(worst, grid_error(grid, epsilon));
  }
  return worst;
}

void print_loss_head(const char* name, const GridData& data) {
  std::printf("\nPrivacy loss of statistics in all grids: %s, %u grids, %u buses, %zu rows\n", name,
              data.grids(), data.users(), data.row_count());
  std::printf("%13s %6s %4s %12s %11s %10s %9s %16s\n", "epsilon/grid", "max G", "K", "eps * max G",
              "eps * K", "saved %", "E_thresh", "rows dropped %");
}

void print_loss(double epsilon, double before, const Suppression& suppression) {
  const double after = suppression.grids_per_user;
  std::printf("%13g %6.0f %4.0f %12.3g %11.3g %10.0f %9.3f %16.1f\n", epsilon, before, after,
              epsilon * before, epsilon * after, 100 * (1 - after / before), suppression.threshold,
              100 * rows_suppressed(suppression));
}

void compare_loss(const char* name, const GridData& data, const std::string& directory,
                  const char* file_name, Claims& claims) {
  print_loss_head(name, data);
  LineChart chart{"Privacy loss of all grids together: " + std::string(name),
                  "for the same worst-case error in the worst grid",
                  "ε of a grid",
                  "ε of the release",
                  {{"ε · max G: nobody suppressed", {}, true}, {"ε · K: after suppression", {}}}};
  std::uint32_t last = 0;
  CancelPoll cancel(nullptr);
  const Workspace work{cancel, std::pmr::new_delete_resource()};
  const std::uint32_t before =
      keep_all_users(data.occupancies(), data.grids(), 1, work).grids_per_user;
  for (const double epsilon : kEpsilonsPerGrid) {
    const Suppression suppression =
        chop_users(data.occupancies(), data.grids(), epsilon * before, work);
    print_loss(epsilon, before, suppression);
    const std::uint32_t after = suppression.grids_per_user;
    claims.not_more_grids.check(after <= before);
    claims.bound_kept.check(worst_error(suppression, epsilon) <= suppression.threshold);
    claims.never_falls_with_epsilon.check(last <= after);
    if (last == 0) claims.gain_for_small_epsilon.check(after < before);
    last = after;
    chart.series[0].points.push_back({epsilon, epsilon * before});
    chart.series[1].points.push_back({epsilon, epsilon * after});
  }
  if (!directory.empty()) write_line_chart(chart, directory + "/" + file_name);
}

// --- Errors of a release -------------------------------------------------------------------------

struct GridErrors {
  std::vector<Average> mean;
  std::vector<Average> variance;
  std::vector<Average> sum;  // of mean and variance in units of U and U^2, as E_thresh
  std::uint32_t grids_per_user = 0;
  double bound = 0;
};

GridErrors measure_release(const GridData& data, double epsilon, bool suppress, int trials,
                           RandomStream& random) {
  GridErrors errors{std::vector<Average>(data.grids()), std::vector<Average>(data.grids()),
                    std::vector<Average>(data.grids())};
  for (int trial = 0; trial < trials; ++trial) {
    CancelPoll cancel(nullptr);
    const GridRelease release = user_grid_stats(data.rows(), data.grids(), pure(epsilon), suppress,
                                                {random, cancel, std::pmr::new_delete_resource()});
    errors.grids_per_user = release.grids_per_user;
    errors.bound = release.error_bound;
    for (const GridStatistics& grid : release.grids) {
      const double mean =
          std::abs(static_cast<double>(grid.mean) / FixedPoint::kOne - data.mean(grid.grid));
      const double variance = std::abs(static_cast<double>(grid.variance) / FixedPoint::kOne -
                                       data.variance(grid.grid));
      errors.mean[grid.grid].add(kHighestSpeed * mean);
      errors.variance[grid.grid].add(kHighestSpeed * kHighestSpeed * variance);
      errors.sum[grid.grid].add(mean + variance);
    }
  }
  return errors;
}

double average(const std::vector<Average>& errors) {
  double sum = 0;
  for (const Average& error : errors) sum += error.mean();
  return sum / static_cast<double>(errors.size());
}

double worst(const std::vector<Average>& errors) {
  double most = 0;
  for (const Average& error : errors) most = std::max(most, error.mean());
  return most;
}

void compare_releases(const char* name, const GridData& data, int trials, RandomStream& random,
                      Claims& claims) {
  std::printf("\nMean absolute errors of a release of all grids: %s, %d draws\n", name, trials);
  std::printf("%9s %9s %4s  %-22s  %-22s  %-26s\n", "", "", "", "mean in km/h",
              "variance in (km/h)^2", "sum in units of U and U^2");
  std::printf("%9s %9s %4s  %10s %11s  %10s %11s  %11s %14s\n", "epsilon", "suppress", "K",
              "all grids", "worst grid", "all grids", "worst grid", "worst grid", "E_thresh");
  for (const double epsilon : kTotalEpsilons) {
    for (const bool suppress : {false, true}) {
      const GridErrors errors = measure_release(data, epsilon, suppress, trials, random);
      std::printf("%9g %9s %4u  %10.2f %11.2f  %10.1f %11.1f  %11.3f %14.3f\n", epsilon,
                  suppress ? "yes" : "no", errors.grids_per_user, average(errors.mean),
                  worst(errors.mean), average(errors.variance), worst(errors.variance),
                  worst(errors.sum), errors.bound);
      std::fflush(stdout);
      for (const Average& error : errors.sum) {
        claims.below_bound.check(error.mean() <=
                                 errors.bound + kTolerance * error.standard_error());
      }
    }
  }
}

}  // namespace

void measure_grids(int trials, const std::string& directory, RandomStream& random) {
  Generator generator(kSeed);
  const GridData city(draw_city(kCityBuses, kSpeeds, generator));
  const GridData heavy_hitter(draw_heavy_hitter_city(kHeavyHitterBuses, kSpeeds, generator));
  Claims claims;
  compare_loss("city", city, directory, "user_grids_city.svg", claims);
  compare_loss("heavy hitter", heavy_hitter, directory, "user_grids_heavy_hitter.svg", claims);
  compare_releases("city", city, trials, random, claims);
  compare_releases("heavy hitter", heavy_hitter, trials, random, claims);
  std::printf("\n");
  claims.not_more_grids.print("K after suppression is at most max G: at each epsilon of a grid");
  claims.bound_kept.print("The worst-case error is at most E_thresh in all grids: at each epsilon");
  claims.gain_for_small_epsilon.print("K is below max G at the least epsilon: in each city");
  claims.never_falls_with_epsilon.print(
      "K never falls as epsilon grows: from each epsilon to the next");
  claims.below_bound.print(
      "The error of a release is at most E_thresh: in each grid and table row");
}

}  // namespace dpquantile::bench
