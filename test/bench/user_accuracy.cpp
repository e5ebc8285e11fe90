// Accuracy of the user-level mechanisms on the experiments of Rameshwar et al. 2024: "Mean
// Estimation with User-Level Privacy for Spatio-Temporal IoT Datasets" (arXiv:2401.15906) and, in
// user_grid_accuracy.cpp, "Improving the Privacy Loss Under User-Level DP Composition for Fixed
// Estimation Error" (arXiv:2405.06261).
//
// Generated data replace theirs, which are speeds of the buses of Surat:
//
// - 'base data': 300 buses. Their numbers of rows m_l are log-normal with median 14 (log sd 1.05:
//   one bus in a hundred has more than 160). Speeds are normal (sd 12 km/h) about the mean of the
//   bus, clipped to [0, 65]. The means of the buses are normal about 22 km/h (sd 5).
// - Scaled data: every bus has 10 (100) times as many rows, or there are 10 buses for each. The
//   speeds are, as in the source, independent with the mean and the standard deviation of the base
//   data, or they have offsets of the buses again.
// - 'heavy tail': 300 buses with Pareto numbers of rows (from 5 on, shape 1.2). The last bus has a
//   quarter of all rows.
//
// The data come from a seeded generator. A figure of a mean is the average, over datasets with the
// same numbers of rows, of the expected error on each, which is computed (expected_mean_error.hpp);
// only 'bounded', the variances and the grids are drawn. Errors are those of the answers as
// released, within the bounds. 'bounded' protects against adding or removing a user, the others
// protect against replacing one, so their epsilons do not mean the same guarantee. "Under rho": the
// rho that accountant 'zcdp' charges for epsilon.
//
// usage: user_accuracy TRIALS [SVG_DIRECTORY]   a figure of a mean has TRIALS / 8 datasets, fewer
// of
//                                               large ones
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "bench_figures.hpp"
#include "core/user_level/user_error.hpp"
#include "user_data.hpp"
#include "user_errors.hpp"
#include "user_grid_accuracy.hpp"

namespace {

using namespace dpquantile;
using namespace dpquantile::bench;

constexpr std::size_t kBuses = 300;
constexpr double kMedianRows = 14;
constexpr double kLogSd = 1.05;
constexpr SpeedLaw kSpeeds{22, 12, 5};
constexpr std::uint64_t kScale = 10;
constexpr std::uint64_t kLargeScale = 100;
constexpr std::uint64_t kSeed = 1;
constexpr double kNearBest = 1.15;

// --- Verdicts ------------------------------------------------------------------------------------

// The claim for each epsilon: no other method of the source has a smaller error than this one with
// the better one of its rules for m_UB.
Claim is_best(UserMethod method, const Errors& errors) {
  Claim claim;
  for (std::size_t j = 0; j < std::size(kEpsilons); ++j) {
    const Average best = errors[best_of_source(errors, j, method)][j].average();
    bool holds = true;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const bool other = of_source(kMethods[i]) && kMethods[i].method != method;
      if (other && !not_above(best, errors[i][j].average())) holds = false;
    }
    claim.check(holds);
  }
  return claim;
}

bool below_bound(const BusDataSets& data, const Errors& errors, std::size_t method,
                 std::size_t epsilon) {
  const Average error = errors[method][epsilon].average();
  return error.mean() <= array_bound(kMethods[method], data, kEpsilons[epsilon]) +
                             kTolerance * error.standard_error();
}

double forecast_noise(const BusDataSets& data, std::size_t method, double epsilon) {
  CancelPoll cancel(nullptr);
  const UserQuery query = query_for(kMethods[method], data.counts(), epsilon);
  return forecast_mean_error(data.counts(), query, {cancel, std::pmr::new_delete_resource()}).noise;
}

// The claim for each epsilon: the noise is the same for both datasets.
Claim has_same_noise(const BusDataSets& from, const BusDataSets& to, std::size_t method) {
  Claim claim;
  for (const double epsilon : kEpsilons) {
    const double change =
        forecast_noise(to, method, epsilon) / forecast_noise(from, method, epsilon);
    claim.check(std::abs(change - 1) < 0.01);
  }
  return claim;
}

// How 'auto' compares with the best of the source, in all cells.
class NearBest {
 public:
  void check(const Errors& errors, std::size_t epsilon) {
    const SetErrors& best = errors[best_of_source(errors, epsilon)][epsilon];
    const SetErrors& of_auto = errors[kAuto][epsilon];
    ++cells_;
    cells_near_best_ += of_auto.ratio_to(best) <= kNearBest;
    worst_ = std::max(worst_, of_auto.ratio_to(best));
    least_sure_ = std::max(least_sure_, of_auto.standard_error_of_ratio_to(best));
  }
  void print(const char* guarantee) const {
    std::printf(
        "Under %s 'auto' has at most %g times the error of the best of the source in %d of %d "
        "cells,\nat worst %.3f times; the largest standard error of a ratio is %.3f\n",
        guarantee, kNearBest, cells_near_best_, cells_, worst_, least_sure_);
  }

 private:
  int cells_ = 0;
  int cells_near_best_ = 0;
  double worst_ = 0;
  double least_sure_ = 0;
};

// The tables of means, and the claims about all of them.
class Experiments {
 public:
  Experiments(int trials, std::string plots, RandomStream& random)
      : trials_(trials), plots_(std::move(plots)), random_(random) {}

  // Writes no plot if the file name is empty. Returns the errors under epsilon.
  Errors run(const BusDataSets& data, const std::string& file_name) {
    MeanErrors all = measure_means(data, trials_, random_);
    const Errors& errors = all.pure;
    for (std::size_t j = 0; j < std::size(kEpsilons); ++j) {
      array_no_worse_.check(not_above(errors[kArray][j].average(), errors[kBaseline][j].average()));
      array_below_bound_.check(below_bound(data, errors, kArray, j));
      median_below_bound_.check(below_bound(data, errors, kArrayMedian, j));
      of_auto_.check(errors, j);
      of_auto_under_rho_.check(all.zcdp, j);
    }
    if (!plots_.empty() && !file_name.empty())
      plot_means(errors, "Mean speed: " + data.name(), plots_ + "/" + file_name);
    return std::move(all.pure);
  }

  void print() const {
    array_no_worse_.print("'array' is no worse than 'baseline': at each epsilon of each table");
    array_below_bound_.print("The error of 'array' is at most E: at each epsilon of each table");
    median_below_bound_.print(
        "The error of 'array, median' is at most E of its m_UB: at each epsilon of each table");
    of_auto_.print("epsilon");
    of_auto_under_rho_.print("rho");
  }

 private:
  int trials_;
  std::string plots_;
  RandomStream& random_;
  Claim array_no_worse_;
  Claim array_below_bound_;
  Claim median_below_bound_;
  NearBest of_auto_;
  NearBest of_auto_under_rho_;
};

void measure_users(int trials, const std::string& plots, RandomStream& random) {
  Generator generator(kSeed);
  const RowCounts rows = log_normal_rows(kBuses, kMedianRows, kLogSd, generator);
  const RowCounts more_rows = sample_scaled(rows, kScale);
  const RowCounts many_more_rows = sample_scaled(rows, kLargeScale);
  const RowCounts more_buses = user_scaled(rows, kScale);
  const RowCounts heavy_rows = heavy_tailed_rows(kBuses, 5, 1.2, 0.25, generator);
  const BusDataSets base("base data", rows, kSpeeds, generator());
  const auto first = base.set(0);
  const SpeedLaw independent{first->mean(), std::sqrt(first->variance()), 0};
  const auto of_law = [&](const char* name, const RowCounts& m, const SpeedLaw& law) {
    return BusDataSets(name, m, law, generator());
  };
  const BusDataSets samples = of_law("10 times the rows", more_rows, independent);
  const BusDataSets many_samples = of_law("100 times the rows", many_more_rows, independent);
  const BusDataSets users = of_law("10 times the buses", more_buses, independent);
  const BusDataSets samples_offset = of_law("10 times the rows, with offsets", more_rows, kSpeeds);
  const BusDataSets users_offset = of_law("10 times the buses, with offsets", more_buses, kSpeeds);
  const BusDataSets heavy = of_law("heavy tail", heavy_rows, kSpeeds);

  Experiments experiments(trials, plots, random);
  experiments.run(base, "user_base.svg");
  const Errors of_samples = experiments.run(samples, "user_sample_scaling.svg");
  const Errors of_many_samples = experiments.run(many_samples, "user_sample_scaling_100.svg");
  const Errors of_users = experiments.run(users, "user_user_scaling.svg");
  experiments.run(samples_offset, "");
  const Errors of_users_offset = experiments.run(users_offset, "");
  experiments.run(heavy, "user_heavy_tail.svg");
  for (const BusDataSets* data : {&base, &samples, &users})
    measure_variances(*data, trials, random);

  std::printf(
      "\nAll comparisons have a tolerance of %g standard errors. 'Best': at each epsilon, with one "
      "of its two m_UB,\nno worse than any other method except 'bounded' and 'auto'.\n",
      kTolerance);
  experiments.print();
  is_best(UserMethod::kQuantile, of_samples).print("'quantile' is best for 10 times the rows");
  is_best(UserMethod::kQuantile, of_many_samples)
      .print("'quantile' is best for 100 times the rows");
  is_best(UserMethod::kQuantile, of_users).print("'quantile' is best for 10 times the buses");
  is_best(UserMethod::kQuantile, of_users_offset)
      .print("'quantile' is best for 10 times the buses, with offsets");
  has_same_noise(base, samples, kBaseline)
      .print("The noise of 'baseline' is the same for 10 times the rows");
  has_same_noise(base, samples, kArray)
      .print("The noise of 'array' is the same for 10 times the rows");
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 400;
  const std::string plots = argc > 2 ? argv[2] : "";
  if (trials < 10) {
    std::fprintf(stderr, "usage: user_accuracy TRIALS [SVG_DIRECTORY] (at least 10 trials)\n");
    return 1;
  }
  CsprngSource source;
  RandomStream random(source);
  measure_users(trials, plots, random);
  measure_grids(trials, plots, random);
  return 0;
}
