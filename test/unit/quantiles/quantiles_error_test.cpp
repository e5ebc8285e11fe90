#include "core/quantiles/quantiles_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/exponential/joint_utility.hpp"
#include "core/quantiles/independent_quantiles.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/quantiles/quantiles_error_bound.hpp"
#include "core/quantiles/recursion_plan.hpp"
#include "support/context_testing.hpp"
#include "support/dataset.hpp"
#include "support/parameter_error.hpp"
#include "support/quantiles_sampler.hpp"

// Every statistical check has a false-alarm probability below 10^-8.
namespace dpquantile {
namespace {

using test::Dataset;
using test::expect_parameter_error;
using test::heap;
using test::QuantilesSampler;
using test::TestContext;
using test::TestWorkspace;

using Quantiles = std::vector<double>;
using Errors = std::vector<double>;

constexpr double kBeta = 1 - 0.95;
constexpr QuantilesMethod kBoundedMethods[] = {
    QuantilesMethod::kApproximate, QuantilesMethod::kJoint, QuantilesMethod::kIndependent,
    QuantilesMethod::kAuto};

Errors bounds(const QuantilesQuery& query, double records, double beta = kBeta) {
  const auto found = rank_error_bounds(query, query.quantiles, records, beta, heap());
  return {found.begin(), found.end()};
}

std::vector<QuantileError> forecast(const QuantilesQuery& query, std::uint64_t records) {
  const auto errors = forecast_quantiles_error(query, records, TestWorkspace());
  return {errors.begin(), errors.end()};
}

// Rank errors counted record by record.
class RankErrors {
 public:
  explicit RankErrors(const Dataset& data) : records_(data.records) { std::ranges::sort(records_); }

  double of(std::uint32_t cell, double quantile) const {
    const double target = quantile * static_cast<double>(records_.size());
    const auto [first, last] = std::equal_range(records_.begin(), records_.end(), cell);
    return std::max({0.0, static_cast<double>(first - records_.begin()) - target,
                     target - static_cast<double>(last - records_.begin())});
  }

 private:
  std::vector<std::uint32_t> records_;
};

Dataset ties(std::uint64_t cells, std::uint32_t cell, std::size_t records) {
  return {cells, std::vector<std::uint32_t>(records, cell)};
}

Dataset evenly_spread(std::uint64_t cells, std::size_t records) {
  Dataset data{cells, std::vector<std::uint32_t>(records)};
  for (std::size_t i = 0; i < records; ++i) {
    data.records[i] = static_cast<std::uint32_t>(i * cells / records);
  }
  return data;
}

Dataset two_clusters(std::uint64_t cells, std::size_t records) {
  Dataset data{cells, {}};
  for (std::size_t i = 0; i < records; ++i) {
    const auto within = static_cast<std::uint32_t>(i % 7);
    data.records.push_back(i % 2 == 0 ? within : static_cast<std::uint32_t>(cells) - 1 - within);
  }
  return data;
}

// --- The bound -----------------------------------------------------------------------------------

// The logarithm of N 2^24 / k, with k the positions that have ranks in a stretch of `ranks`.
double log_positions(double ranks, double cells, double records) {
  const double step = records / 0x1p24;
  return std::log(cells * 0x1p24 / std::clamp(ranks / step - 1, 1.0, 0x1p24));
}

// The bound of a draw of one quantile, if 1 / lambda is more than the step of ranks.
double one_quantile_bound(double q, double epsilon, double cells, double records, double failure) {
  const double lambda = rank_lambda(q, epsilon);
  return (1 + log_positions(1 / lambda, cells, records) - std::log(failure)) / lambda;
}

TEST(RankErrorBounds, FollowTheTheoremForIndependentQuantiles) {
  const Quantiles quantiles = {0, 0.1, 0.5, 0.75, 1};
  for (const PrivacyParameter& privacy : {pure(1), zcdp(0.1)}) {
    const Errors found = bounds({QuantilesMethod::kIndependent, privacy, 1000, quantiles}, 1e6);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_DOUBLE_EQ(found[i], one_quantile_bound(quantiles[i], independent_epsilon(5, privacy),
                                                    1000, 1e6, kBeta / 5));
    }
  }
}

// The median is drawn first; the other quartiles lie in the middle between it and an end.
TEST(RankErrorBounds, AddUpAlongTheRecursionForApproximateQuantiles) {
  const Quantiles quantiles = {0.25, 0.5, 0.75};
  const Errors found = bounds({QuantilesMethod::kApproximate, pure(1), 1000, quantiles}, 1e6);
  const double one = one_quantile_bound(0.5, 0.5, 1000, 1e6, kBeta / 3);
  EXPECT_DOUBLE_EQ(found[1], one);
  EXPECT_DOUBLE_EQ(found[0], 1.5 * one);
  EXPECT_DOUBLE_EQ(found[2], 1.5 * one);
  // 0.1 lies at a fifth of [0, 0.5].
  const Quantiles uneven = {0.1, 0.5, 0.9};
  const Errors of_uneven = bounds({QuantilesMethod::kApproximate, pure(1), 1000, uneven}, 1e6);
  const double fifth = one_quantile_bound(0.2, 0.5, 1000, 1e6, kBeta / 3);
  EXPECT_NEAR(of_uneven[0], 0.2 * one + fifth, 1e-9);
  EXPECT_NEAR(of_uneven[2], 0.2 * one + fifth, 1e-9);
}

TEST(RankErrorBounds, FollowTheTheoremForJointQuantiles) {
  const Quantiles quantiles = {0.1, 0.5, 0.7};
  for (const PrivacyParameter& privacy : {pure(1), zcdp(0.125)}) {
    const Errors found = bounds({QuantilesMethod::kJoint, privacy, 1000, quantiles}, 1e6);
    const double lambda = joint_lambda(1);
    const double departure =
        (1 + 3 * log_positions(1 / (6 * lambda), 1000, 1e6) - std::log(kBeta / 3)) / lambda +
        JointUtility(quantiles, lambda, heap()).lattice_step() / 2;
    EXPECT_NEAR(found[0], 0.9 * departure, 1e-7);
    EXPECT_NEAR(found[1], 0.5 * departure, 1e-7);
    EXPECT_NEAR(found[2], 0.7 * departure, 1e-7);
    // Up to 16 quantiles under pure privacy, auto is one joint draw.
    if (privacy.measure != PrivacyMeasure::kPure) continue;
    EXPECT_EQ(bounds({QuantilesMethod::kAuto, privacy, 1000, quantiles}, 1e6), found);
  }
}

TEST(RankErrorBounds, AreAtMostTheRecordsAndFallWithEpsilonAndBeta) {
  for (const QuantilesMethod method : kBoundedMethods) {
    for (const std::size_t m : {1U, 3U, 20U}) {
      Quantiles quantiles;
      for (std::size_t i = 0; i < m; ++i) {
        quantiles.push_back((static_cast<double>(i) + 1) / static_cast<double>(m + 1));
      }
      for (const double records : {1.0, 10.0, 1e3, 0x1p40}) {
        const Errors loose = bounds({method, pure(0.1), 1 << 20, quantiles}, records);
        const Errors sharp = bounds({method, pure(1), 1 << 20, quantiles}, records);
        const Errors sure = bounds({method, pure(1), 1 << 20, quantiles}, records, 1e-6);
        for (std::size_t i = 0; i < m; ++i) {
          ASSERT_GT(sharp[i], 0);
          ASSERT_LE(sharp[i], sure[i]);
          ASSERT_LE(sharp[i], loose[i]);
          ASSERT_LE(loose[i], records);
          ASSERT_LE(sure[i], records);
        }
      }
    }
  }
}

// The number of draws in which any quantile misses its bound.
int violations(const Dataset& data, const Quantiles& quantiles, const PrivacyParameter& privacy,
               QuantilesMethod method, int draws) {
  const auto records = static_cast<double>(data.records.size());
  const Errors allowed = bounds({method, privacy, data.cells, quantiles}, records);
  const RankErrors errors(data);
  QuantilesSampler sampler(data, quantiles, privacy, method);
  int found = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<std::uint32_t> cells = sampler.draw();
    bool violated = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      // Bounds hold for real numbers; rounding is far below a millionth.
      if (errors.of(cells[i], quantiles[i]) > allowed[i] + 1e-6) violated = true;
    }
    found += violated;
  }
  return found;
}

// More than 20 of 80 draws, which each miss with a probability of 0.05, miss with a probability
// below 10^-9 (a binomial tail; 56 checks stay below 10^-7).
TEST(RankErrorBounds, HoldOnAnyData) {
  constexpr int kDraws = 80;
  constexpr int kMost = 20;
  constexpr std::uint64_t kCells = 1 << 20;
  const std::vector<Dataset> datasets = {
      ties(kCells, 0, 400),      ties(kCells, 700'001, 400), ties(kCells, kCells - 1, 400),
      two_clusters(kCells, 400), evenly_spread(kCells, 400), ties(1ULL << 32, 5, 1),
  };
  const Quantiles three = {0.1, 0.5, 0.9};
  const Quantiles seven = {0, 0.01, 0.3, 0.5, 0.8, 0.99, 1};
  for (const QuantilesMethod method : kBoundedMethods) {
    for (const PrivacyParameter& privacy : {pure(3), zcdp(1)}) {
      for (const Dataset& data : datasets) {
        EXPECT_LE(violations(data, three, privacy, method, kDraws), kMost);
      }
      EXPECT_LE(violations(two_clusters(kCells, 2000), seven, privacy, method, 20), 13);
    }
  }
}

// The worst data for one quantile: all records in one cell, and as few of them as make a miss of
// that cell exceed the bound. The median then misses it with a probability of 0.007, so the bound
// is a constant factor from the best. More than 170 of 2000 draws, which each miss with a
// probability of 0.05, miss with a probability below 10^-9 (a binomial tail). Without the logarithm
// of the cells or of the records in the bound, far more would miss.
TEST(RankErrorBounds, HoldOnTheWorstDataForOneQuantile) {
  constexpr std::uint64_t kCells = 1 << 16;
  const Quantiles median = {0.5};
  for (const QuantilesMethod method : kBoundedMethods) {
    for (const PrivacyParameter& privacy : {pure(1), zcdp(0.125)}) {
      std::size_t records = 1;
      while (bounds({method, privacy, kCells, median}, static_cast<double>(records))[0] >=
             static_cast<double>(records) / 2) {
        ++records;
      }
      const int missed = violations(ties(kCells, 12'345, records), median, privacy, method, 2000);
      EXPECT_LE(missed, 170);
      EXPECT_LT(records, 100U);
    }
  }
}

// The runs of a histogram, one after the other.
struct Runs {
  std::vector<CellRun> runs;
  std::size_t given = 0;

  bool next(CellRun& run) {
    if (given == runs.size()) return false;
    run = runs[given++];
    return true;
  }
};

// Half of the records but `ties` are in the first cell, the others in the last. The median is
// `ties` records into the last cell, and between both are 2^20 cells.
int misses_of_far_cells(const QuantilesQuery& query, std::uint64_t records, std::uint64_t ties,
                        int draws) {
  const auto low = static_cast<std::uint32_t>(records / 2 - ties);
  const auto last = static_cast<std::uint32_t>(query.cells - 1);
  const Histogram data(2, 2, Runs{{{0, low}, {last, static_cast<std::uint32_t>(records - low)}}},
                       TestWorkspace());
  const double allowed = bounds(query, static_cast<double>(records))[0];
  const QuantilesMechanism mechanism(query, heap());
  TestContext context;
  int found = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const bool is_between = mechanism.release(data, context)[0] < last;
    found += is_between && static_cast<double>(ties) > allowed;
  }
  return found;
}

// Cells of so many records that a position spans more of them than the noise. More than 170 of 2000
// draws miss with a probability below 10^-9, and more than 20 of 80 likewise.
TEST(RankErrorBounds, HoldWhereAPositionSpansManyRecords) {
  const Quantiles median = {0.5};
  const Quantiles two = {0.5, 0.9};
  constexpr auto kOne = QuantilesMethod::kApproximate;
  constexpr std::uint64_t kCells = 1 << 20;
  EXPECT_LE(misses_of_far_cells({kOne, pure(1), kCells, median}, 4'294'967'294, 75, 2000), 170);
  EXPECT_LE(misses_of_far_cells({kOne, pure(1), kCells, median}, 4'294'967'294, 80, 2000), 170);
  EXPECT_LE(misses_of_far_cells({kOne, pure(10), kCells, median}, 400'000'000, 7, 2000), 170);
  EXPECT_LE(misses_of_far_cells({kOne, pure(100), kCells, median}, 100'000'000, 1, 2000), 170);
  EXPECT_LE(
      misses_of_far_cells({QuantilesMethod::kJoint, pure(16), kCells, two}, 536'870'000, 8, 80),
      20);
}

// --- The forecast --------------------------------------------------------------------------------

TEST(QuantilesErrorForecast, HasTheBoundsInTheOrderAskedFor) {
  const Quantiles asked = {0.9, 0.1, 0.5, 0.1, 0.9};
  const Quantiles distinct = {0.1, 0.5, 0.9};
  for (const QuantilesMethod method : kBoundedMethods) {
    for (const PrivacyParameter& privacy : {pure(1), zcdp(0.1)}) {
      for (const std::uint64_t records : {std::uint64_t{1}, std::uint64_t{5000}}) {
        const auto errors = forecast({method, privacy, 1000, asked}, records);
        const Errors expected =
            bounds({method, privacy, 1000, distinct}, static_cast<double>(records));
        ASSERT_EQ(errors.size(), 5U);
        const std::size_t of[] = {2, 0, 1, 0, 2};
        for (std::size_t i = 0; i < 5; ++i) {
          ASSERT_EQ(errors[i].bound, std::optional(expected[of[i]]));
          ASSERT_LE(*errors[i].bound, static_cast<double>(records));
          ASSERT_GE(errors[i].mean, 0);
          ASSERT_LE(errors[i].mean, static_cast<double>(records));
          ASSERT_LE(errors[i].at_95, static_cast<double>(records));
        }
        // One answer for both.
        for (const auto& [i, j] : {std::pair(1U, 3U), std::pair(0U, 4U)}) {
          ASSERT_EQ(errors[i].mean, errors[j].mean);
          ASSERT_EQ(errors[i].at_95, errors[j].at_95);
        }
      }
    }
  }
}

TEST(QuantilesErrorForecast, HasNoBoundForCountsOnATree) {
  Quantiles seventeen;
  for (int i = 1; i <= 17; ++i) seventeen.push_back(i / 18.0);
  const Quantiles sixteen(seventeen.begin(), seventeen.end() - 1);
  const auto bounded = [](QuantilesMethod method, const PrivacyParameter& privacy,
                          std::uint64_t cells, const Quantiles& quantiles) {
    const auto errors = forecast({method, privacy, cells, quantiles}, 100);
    const auto count = std::ranges::count_if(
        errors, [](const QuantileError& error) { return error.bound.has_value(); });
    EXPECT_TRUE(count == 0 || count == std::ssize(errors));
    return count > 0;
  };
  EXPECT_FALSE(bounded(QuantilesMethod::kTree, pure(1), 100, {0.5}));
  EXPECT_FALSE(bounded(QuantilesMethod::kTree, zcdp(1), 100, {0.5}));
  EXPECT_FALSE(bounded(QuantilesMethod::kAuto, pure(1), 1024, seventeen));
  EXPECT_TRUE(bounded(QuantilesMethod::kAuto, pure(1), 1025, seventeen));
  EXPECT_TRUE(bounded(QuantilesMethod::kAuto, pure(1), 1024, sixteen));
  EXPECT_TRUE(bounded(QuantilesMethod::kAuto, zcdp(1), 1024, seventeen));
  EXPECT_TRUE(bounded(QuantilesMethod::kApproximate, pure(1), 1024, seventeen));
}

// On evenly spread records that fill the value grid, R(p) - q n has a two-sided exponential law up
// to a record, so the error has an exponential law of mean 1 / lambda. By Chernoff's bound, the
// mean of 200 errors lies outside [0.6, 1.55] / lambda with a probability below 10^-9. So does the
// 190th in order outside [1.5, 6] / lambda: then 11 or more of 200 errors exceed 6 / lambda (each
// with a probability of e^-6), or 10 or fewer exceed 1.5 / lambda (e^-1.5).
TEST(QuantilesErrorForecast, HasTheMeanAndTheTailOfTheLawOfOneQuantile) {
  const Quantiles quantiles = {0.3, 0.5};
  const Quantiles median = {0.5};
  constexpr std::uint64_t kCells = std::uint64_t{1} << 32;
  for (const std::uint64_t records : {std::uint64_t{100'000}, kCells}) {
    const auto check = [&](const QuantilesQuery& query, std::size_t i, double epsilon) {
      const double each = 1 / rank_lambda(query.quantiles[i], epsilon);
      const QuantileError error = forecast(query, records)[i];
      EXPECT_GT(error.mean, 0.6 * each - 1);
      EXPECT_LT(error.mean, 1.55 * each + 1);
      EXPECT_GT(error.at_95, 1.5 * each - 1);
      EXPECT_LT(error.at_95, 6 * each + 1);
    };
    for (const PrivacyParameter& privacy : {pure(0.02), zcdp(0.00005)}) {
      const QuantilesQuery independent{QuantilesMethod::kIndependent, privacy, kCells, quantiles};
      check(independent, 0, independent_epsilon(2, privacy));
      check(independent, 1, independent_epsilon(2, privacy));
      check({QuantilesMethod::kApproximate, privacy, kCells, median}, 0, 0.02);
    }
  }
}

// The noise of one draw of several, and of a quantile near an end, reaches as far as it does on all
// records, though few are simulated. The law is as above, with the ends 15 of its means away or
// more. The draws are the same in every run.
// The simulation has the same seed in every run.
TEST(RankErrorAtLeast, IsThatOfOneQuantileOfRecordsSpreadEvenlyAndNoMoreThanThatOfSeveral) {
  const Quantiles one = {0.5};
  const Quantiles several = {0.25, 0.5, 0.75};
  for (const PrivacyParameter& privacy : {pure(0.1), zcdp(0.005)}) {
    QuantilesQuery query = {QuantilesMethod::kIndependent, privacy, 1 << 20, one};
    const double least = rank_error_at_least(query, kBeta);
    EXPECT_NEAR(forecast(query, 100'000)[0].at_95 / least, 1.2, 0.3);
    for (const QuantilesMethod method : kBoundedMethods) {
      query = {method, privacy, 1 << 20, several};
      EXPECT_GE(forecast(query, 100'000)[1].at_95, rank_error_at_least(query, kBeta));
    }
  }
}

TEST(QuantilesErrorForecast, DoesNotEndWhereTheSimulatedRecordsDo) {
  struct Case {
    Quantiles quantiles;
    double epsilon;
    std::uint64_t records;
  };
  const Case cases[] = {{{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}, 0.001, 10'000'000},
                        {{0.99}, 0.001, 10'000'000},
                        {{0.999}, 0.01, 3'000'000},
                        {{0.001}, 0.001, 1'000'000'000}};
  for (const auto& [quantiles, epsilon, records] : cases) {
    const auto errors =
        forecast({QuantilesMethod::kIndependent, pure(epsilon), 1 << 20, quantiles}, records);
    for (std::size_t i = 0; i < quantiles.size(); ++i) {
      const double lambda =
          rank_lambda(quantiles[i], independent_epsilon(quantiles.size(), pure(epsilon)));
      EXPECT_NEAR(errors[i].mean * lambda, 1, 0.2) << quantiles[i];
      EXPECT_GT(errors[i].at_95 * lambda, 2.8) << quantiles[i];
      EXPECT_LT(errors[i].at_95 * lambda, 4.2) << quantiles[i];
    }
  }
}

// 300000 rows fill 11 cells unequally. A miss by a cell is by 13636.4 rows.
TEST(QuantilesErrorForecast, CountsAllRecordsOfACell) {
  const Quantiles median = {0.5};
  const auto errors = forecast({QuantilesMethod::kApproximate, pure(1e-4), 11, median}, 300'000);
  EXPECT_GE(errors[0].at_95, 300'000.0 / 22);
}

double mean(const Errors& errors) {
  return std::reduce(errors.begin(), errors.end()) / static_cast<double>(errors.size());
}

// The errors are sums of exponential errors. The mean of 100 draws lies outside [0.5, 1.8] times
// its expectation with a probability below 10^-8 (Chernoff's bound for an exponential law, the
// worst of these sums), and the mean of 400 outside [0.7, 1.4]. Beyond the 95 % figure lie 5 % of
// the draws. The figure of 100 draws has more than 30 % beyond it with a probability of 2 10^-9 at
// most. If it has fewer, 45 % of 400 draws lie beyond it with a probability as small.
TEST(QuantilesErrorForecast, AgreesWithDraws) {
  constexpr std::size_t kRecords = 20'000;
  constexpr int kDraws = 400;
  const Quantiles quantiles = {0.25, 0.5, 0.75};
  const Dataset data = evenly_spread(kRecords, kRecords);
  const RankErrors rank_errors(data);
  for (const QuantilesMethod method : {QuantilesMethod::kApproximate, QuantilesMethod::kJoint,
                                       QuantilesMethod::kIndependent, QuantilesMethod::kAuto}) {
    for (const PrivacyParameter& privacy : {pure(0.1), zcdp(0.001)}) {
      const auto errors = forecast({method, privacy, kRecords, quantiles}, kRecords);
      QuantilesSampler sampler(data, quantiles, privacy, method);
      std::vector<Errors> drawn(3);
      for (int draw = 0; draw < kDraws; ++draw) {
        const std::vector<std::uint32_t> cells = sampler.draw();
        for (std::size_t i = 0; i < 3; ++i) {
          drawn[i].push_back(rank_errors.of(cells[i], quantiles[i]));
        }
      }
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_GT(errors[i].mean, 0.5 / 1.4 * mean(drawn[i]));
        EXPECT_LT(errors[i].mean, 1.8 / 0.7 * mean(drawn[i]));
        EXPECT_GT(errors[i].at_95, errors[i].mean);
        EXPECT_LT(errors[i].at_95, *errors[i].bound);
        const auto beyond =
            std::ranges::count_if(drawn[i], [&](double error) { return error > errors[i].at_95; });
        EXPECT_LT(beyond, 0.45 * kDraws);
      }
    }
  }
}

// Few draws behind a figure would show as different figures.
TEST(QuantilesErrorForecast, IsTheSameEveryTime) {
  Quantiles seventeen;
  for (int i = 1; i <= 17; ++i) seventeen.push_back(i / 18.0);
  const Quantiles three = {0.25, 0.5, 0.75};
  const auto is_repeated = [](const QuantilesQuery& query, std::size_t i) {
    const auto one = forecast(query, 200);
    const auto other = forecast(query, 200);
    return one[i].mean == other[i].mean && one[i].at_95 == other[i].at_95;
  };
  EXPECT_TRUE(is_repeated({QuantilesMethod::kJoint, pure(0.1), 1000, seventeen}, 9));
  EXPECT_TRUE(is_repeated({QuantilesMethod::kTree, pure(0.1), 1000, three}, 1));
  EXPECT_TRUE(is_repeated({QuantilesMethod::kBlocks, pure(0.1), 1000, three}, 1));
}

// 5 % of the draws may lie beyond the figure. More than 60 of 400 do with a probability below
// 10^-12 (a binomial tail; 24 checks). At most half of it must be margin: the 95 % quantile of 400
// draws has a standard error of a tenth.
TEST(QuantilesErrorForecast, HoldsAtItsConfidenceAndNotFarAbove) {
  constexpr std::size_t kRecords = 2000;
  constexpr std::ptrdiff_t kDraws = 400;
  TestContext context;
  const Dataset data = evenly_spread(kRecords, kRecords);
  std::vector<std::uint32_t> records = data.records;
  const Histogram histogram(records, kRecords, context);
  const RankErrors rank_errors(data);
  const Quantiles three = {0.25, 0.5, 0.75};
  const Quantiles six = {0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
  for (const auto& [method, quantiles] : {std::pair{QuantilesMethod::kTree, three},
                                          {QuantilesMethod::kJoint, six},
                                          {QuantilesMethod::kBlocks, three}}) {
    for (const PrivacyParameter& privacy : {pure(0.1), zcdp(0.005)}) {
      const auto errors = forecast({method, privacy, kRecords, quantiles}, kRecords);
      const QuantilesMechanism mechanism({method, privacy, kRecords, quantiles}, heap());
      std::vector<Errors> drawn(quantiles.size());
      for (int draw = 0; draw < kDraws; ++draw) {
        const auto cells = mechanism.release(histogram, context);
        for (std::size_t i = 0; i < cells.size(); ++i) {
          drawn[i].push_back(rank_errors.of(cells[i], quantiles[i]));
        }
      }
      for (std::size_t i = 0; i < quantiles.size(); ++i) {
        std::ranges::sort(drawn[i]);
        EXPECT_LE(drawn[i][kDraws - 61], errors[i].at_95 + 1e-9);
        EXPECT_LE(errors[i].at_95, 2 * drawn[i][kDraws * 95 / 100]);
        EXPECT_NEAR(errors[i].mean / mean(drawn[i]), 1, 0.4);
      }
    }
  }
}

// Noise of less than a record, and more records than are simulated. A draw is off by the part of a
// record that the rank of its quantile has more. The probability is as above.
TEST(QuantilesErrorForecast, HoldsBelowOneRecord) {
  constexpr std::size_t kRecords = 131'073;
  constexpr int kDraws = 400;
  const Quantiles quantile = {0.465336};
  const Dataset data = evenly_spread(kRecords, kRecords);
  const RankErrors rank_errors(data);
  constexpr auto kMethod = QuantilesMethod::kApproximate;
  const auto errors = forecast({kMethod, pure(25), kRecords, quantile}, kRecords);
  QuantilesSampler sampler(data, quantile, pure(25), kMethod);
  int beyond = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    beyond += rank_errors.of(sampler.draw()[0], quantile[0]) > errors[0].at_95;
  }
  EXPECT_LE(beyond, 60);
  EXPECT_LT(errors[0].at_95, 1.5);
}

// With an epsilon of 2 10^-6 the noise reaches over more records than are simulated.
TEST(QuantilesErrorForecast, ReachesAsFarAsTheNoise) {
  const Quantiles median = {0.5};
  constexpr auto kMethod = QuantilesMethod::kApproximate;
  const auto near = forecast({kMethod, pure(0.02), 1 << 20, median}, std::uint64_t{1} << 40);
  const auto far = forecast({kMethod, pure(2e-6), 1 << 20, median}, std::uint64_t{1} << 40);
  EXPECT_NEAR(far[0].mean / near[0].mean / 1e4, 1, 0.3);
  EXPECT_NEAR(far[0].at_95 / near[0].at_95 / 1e4, 1, 0.5);
}

// The value grid is far coarser than the records. With a hundred records in each cell and almost no
// noise, the answer is the cell in which the quantile lies.
TEST(QuantilesErrorForecast, IsZeroInsideACell) {
  const Quantiles quantiles = {0.25, 0.75};
  for (const QuantilesMethod method :
       {QuantilesMethod::kApproximate, QuantilesMethod::kJoint, QuantilesMethod::kIndependent,
        QuantilesMethod::kTree, QuantilesMethod::kAuto}) {
    for (const QuantileError& error : forecast({method, pure(1000), 10, quantiles}, 1000)) {
      // A miss is by at least 50 records, at a lambda of 8 or more.
      EXPECT_EQ(error.mean, 0);
      EXPECT_EQ(error.at_95, 0);
    }
  }
}

// So it is with more records than are simulated on a fine grid, with little noise and with much.
TEST(QuantilesErrorForecast, IsZeroInsideACellOfMoreRecordsThanTheNoise) {
  const Quantiles quantiles = {0.2003, 0.5003, 0.7504};
  for (const auto& [privacy, records] :
       {std::pair{pure(0.01), 1U << 27}, {zcdp(5e-5), 1U << 27}, {pure(0.5), 1U << 31}}) {
    for (const QuantilesMethod method : {QuantilesMethod::kApproximate, QuantilesMethod::kBlocks,
                                         QuantilesMethod::kIndependent, QuantilesMethod::kTree}) {
      // The ends of the cells are 40000 records or more from the quantiles, and the noise is of a
      // scale of some 600.
      for (const QuantileError& error : forecast({method, privacy, 1000, quantiles}, records)) {
        EXPECT_EQ(error.mean, 0);
        EXPECT_EQ(error.at_95, 0);
      }
    }
  }
  // The forecast simulates 2^29 of the 2^40 records. A cell has 8000000, and the noise is of a
  // scale of 200000. The median is at the end of one.
  const Quantiles two = {0.20001, 0.5};
  constexpr auto kMethod = QuantilesMethod::kApproximate;
  for (const QuantileError& error :
       forecast({kMethod, pure(1e-5), 1 << 17, two}, std::uint64_t{1} << 40)) {
    EXPECT_EQ(error.mean, 0);
  }
}

// Quantiles near the ends of cells, by a hundredth of the cell: of the records that are simulated
// these are a few, and of the 2^40 records more than Theorem 4b lets any answer be off.
TEST(QuantilesErrorForecast, IsZeroWhereTheBoundIsInsideTheCell) {
  Quantiles quantiles;
  for (int k = 1; k <= 100; ++k) quantiles.push_back(k / 101.0);
  const QuantilesQuery query{QuantilesMethod::kBlocks, pure(1), 1 << 17, quantiles};
  const auto all_zero = [&](std::uint64_t records) {
    return std::ranges::all_of(forecast(query, records), [](const QuantileError& error) {
      return error.mean == 0 && error.at_95 == 0;
    });
  };
  EXPECT_TRUE(all_zero(std::uint64_t{1} << 40));
  EXPECT_FALSE(all_zero(std::uint64_t{1} << 25));
}

// The draws of the simulation have more epsilon than those of the query. The histogram is asked
// for a stop a few times; then the draws are, which are many.
TEST(QuantilesErrorForecast, TakesAsManyIndependentQuantilesAsAQuery) {
  Quantiles quantiles;
  for (int i = 1; i <= 4096; ++i) quantiles.push_back(i / 4097.0);
  static int asked;
  for (const double epsilon : {1.0, 1000.0}) {
    const QuantilesQuery query{QuantilesMethod::kIndependent, pure(epsilon), 1 << 18, quantiles};
    asked = 0;
    const TestWorkspace stopped([] { return ++asked == 10; });
    EXPECT_THROW(forecast_quantiles_error(query, 1'000'000'000, stopped), Cancelled);
  }
}

TEST(QuantilesErrorForecast, RefusesParametersOutOfRange) {
  const Quantiles median = {0.5};
  const Quantiles outside = {1.5};
  const Quantiles none;
  constexpr auto kMethod = QuantilesMethod::kApproximate;
  for (const std::uint64_t records :
       {std::uint64_t{0}, kMaxForecastRecords + 1, ~std::uint64_t{0}}) {
    const auto ask = [&] { forecast({kMethod, pure(1), 10, median}, records); };
    expect_parameter_error(
        "the number of rows must be between 1 and 1099511627776, got " + std::to_string(records),
        "Give a public guess of the number of rows.", ask);
  }
  EXPECT_NO_THROW(forecast({kMethod, pure(1), 10, median}, 1));
  EXPECT_NO_THROW(forecast({kMethod, pure(1), 10, median}, kMaxForecastRecords));
  EXPECT_THROW(forecast({kMethod, pure(1), 10, outside}, 10), ParameterError);
  EXPECT_THROW(forecast({kMethod, pure(1), 10, none}, 10), ParameterError);
  EXPECT_THROW(forecast({kMethod, pure(1e-7), 10, median}, 10), ParameterError);
  EXPECT_THROW(forecast({kMethod, zcdp(0), 10, median}, 10), ParameterError);
}

}  // namespace
}  // namespace dpquantile
