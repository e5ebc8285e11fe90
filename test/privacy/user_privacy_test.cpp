#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/contributions/fixed_point.hpp"
#include "core/user_level/bounded_sums.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/user_grid_stats.hpp"
#include "core/user_level/user_mean.hpp"
#include "core/user_level/user_query.hpp"
#include "core/user_level/user_variance.hpp"
#include "core/user_level/window_interval.hpp"
#include "support/case_name.hpp"
#include "support/claim.hpp"
#include "support/context_testing.hpp"
#include "support/privacy_loss.hpp"
#include "support/user_dataset.hpp"

// Tries to refute that the user-level mechanisms are epsilon-differentially private or rho-zCDP.
// The datasets differ in all values of one user, and for 'bounded' by one whole user. The checks
// must also refute each mechanism with twice the claimed epsilon or four times the rho, which is
// half the noise. user_zcdp_privacy_test.cpp has exact laws.
namespace dpquantile {
namespace {

using test::case_name;
using test::certain_delta;
using test::Claim;
using test::claim_of;
using test::GroupedRows;
using test::kFalseAlarm;
using test::Sample;
using test::take_sample;
using test::TestContext;
using test::UserValues;

constexpr std::uint32_t kOne = FixedPoint::kOne;
constexpr std::uint32_t kMiddle = kOne / 2;

// The outcomes are both ends of the range, on which clamping puts atoms, and equal parts between
// them.
constexpr std::size_t kParts = 16;
constexpr std::size_t kOutcomes = kParts + 2;

std::size_t outcome_of(std::uint32_t units, std::uint32_t largest) {
  if (units == 0) return 0;
  if (units == largest) return kOutcomes - 1;
  return 1 + static_cast<std::size_t>(std::uint64_t{units} * kParts / largest);
}

class Mechanisms {
 protected:
  TestContext context_;
};

// --- Means and variances -------------------------------------------------------------------------

enum class Statistic { mean, variance };

struct Neighbours {
  std::string name;
  Statistic statistic;
  UserQuery query;
  UserValues data;
  UserValues neighbour;
  int draws;
};

void PrintTo(const Neighbours& neighbours, std::ostream* out) {
  *out << neighbours.name;
}

class UserMechanism : public ::testing::TestWithParam<Neighbours>, protected Mechanisms {
 protected:
  Sample sample(const UserValues& data, const PrivacyParameter& spent) {
    const GroupedRows rows(data);
    UserQuery query = GetParam().query;
    query.privacy = spent;
    const bool mean = GetParam().statistic == Statistic::mean;
    return take_sample(kOutcomes, GetParam().draws, [&] {
      if (mean) return outcome_of(user_mean(*rows, query, context_), kOne);
      return outcome_of(user_variance(*rows, query, context_), kOne / 4);
    });
  }

  // By how much the bound on delta exceeds the claim, for releases that spend `spent`.
  double excess_when_spending(const PrivacyParameter& spent) {
    const Claim claim = claim_of(GetParam().query.privacy);
    return certain_delta(sample(GetParam().data, spent), sample(GetParam().neighbour, spent),
                         claim.epsilon, kFalseAlarm) -
           claim.delta;
  }
};

// What half of the noise spends.
PrivacyParameter with_half_noise(const PrivacyParameter& privacy) {
  const int factor = privacy.measure == PrivacyMeasure::kPure ? 2 : 4;
  return {privacy.measure, privacy.value * factor};
}

class UserPrivacyCheck : public UserMechanism {};

TEST_P(UserMechanism, KeepsItsGuarantee) {
  EXPECT_LE(excess_when_spending(GetParam().query.privacy), 0);
}

TEST_P(UserPrivacyCheck, AcceptsTheMechanism) {
  EXPECT_LE(excess_when_spending(GetParam().query.privacy), 0);
}

TEST_P(UserPrivacyCheck, CatchesHalfTheNoise) {
  EXPECT_GT(excess_when_spending(with_half_noise(GetParam().query.privacy)), 0);
}

UserQuery by(UserMethod method, const PrivacyParameter& privacy) {
  return {method, ContributionRule::kOptimal, 0, privacy};
}
UserQuery at_most(UserMethod method, std::uint64_t contributions, const PrivacyParameter& privacy) {
  return {method, ContributionRule::kFixed, contributions, privacy};
}

std::vector<std::uint32_t> times(std::size_t count, std::uint32_t value) {
  return std::vector<std::uint32_t>(count, value);
}

// `others` and one more user.
UserValues with(UserValues others, std::vector<std::uint32_t> own) {
  others.push_back(std::move(own));
  return others;
}

const UserValues kOthers = {{kMiddle}, {0}, {kOne, kOne}};

// Each user's rows fill an array of this length. It is long enough that method 'levy' draws a
// private interval for 10 users and an epsilon of 8.
constexpr std::size_t kLong = 160;

UserValues long_arrays(std::size_t low, std::size_t high) {
  UserValues data(low, times(kLong, 0));
  data.resize(low + high, times(kLong, kOne));
  return data;
}

constexpr Statistic kMean = Statistic::mean;
constexpr Statistic kVariance = Statistic::variance;

const std::vector<Neighbours> kCases = {
    {"BaselineWithOthers", kMean, by(UserMethod::kBaseline, pure(0.5)), with(kOthers, {0, 0, 0}),
     with(kOthers, {kOne, kOne, kOne}), 100'000},
    {"ArrayWithOthers", kMean, by(UserMethod::kArray, pure(1)), with(kOthers, {0, 0, 0}),
     with(kOthers, {kOne, 7, kMiddle}), 100'000},
    {"ArrayOfTheMedian",
     kMean,
     {UserMethod::kArray, ContributionRule::kMedian, 0, pure(1)},
     with(kOthers, {0, 0, 0}),
     with(kOthers, {kOne, kOne, kOne}),
     100'000},
    {"LevyInTheWholeRange", kMean, by(UserMethod::kLevy, pure(1)), with(kOthers, {0}),
     with(kOthers, {kOne}), 100'000},
    {"LevyInBins", kMean, by(UserMethod::kLevy, pure(8)), with(long_arrays(5, 4), times(kLong, 0)),
     with(long_arrays(5, 4), times(kLong, kOne)), 20'000},
    {"QuantileWithOthers", kMean, by(UserMethod::kQuantile, pure(1)), with(kOthers, {0}),
     with(kOthers, {kOne}), 60'000},
    {"QuantileAdaptiveWithOthers", kMean, by(UserMethod::kQuantileAdaptive, pure(1)),
     with(kOthers, {0}), with(kOthers, {kOne}), 60'000},
    {"AutoWithOthers", kMean, by(UserMethod::kAuto, pure(1)), with(kOthers, {0, 0, 0}),
     with(kOthers, {kOne, kOne, kOne}), 60'000},
    {"BoundedHeavyUser", kMean, at_most(UserMethod::kBounded, 2, pure(1)), kOthers,
     with(kOthers, times(50, kOne)), 100'000},
    {"VarianceWithOthers", kVariance, by(UserMethod::kArray, pure(1)), with(kOthers, {0, 0, 0}),
     with(kOthers, {0, 0, kOne}), 100'000},
    {"VarianceOfAMajority", kVariance, by(UserMethod::kBaseline, pure(1)),
     with(kOthers, times(7, 0)), with(kOthers, {0, 0, 0, 0, kOne, kOne, kOne}), 100'000},
    {"BaselineUnderRho", kMean, by(UserMethod::kBaseline, zcdp(0.5)), with(kOthers, {0, 0, 0}),
     with(kOthers, {kOne, kOne, kOne}), 60'000},
    {"LevyInBinsUnderRho", kMean, by(UserMethod::kLevy, zcdp(10)),
     with(long_arrays(5, 4), times(kLong, 0)), with(long_arrays(5, 4), times(kLong, kOne)), 20'000},
    {"QuantileUnderRho", kMean, by(UserMethod::kQuantile, zcdp(10)), UserValues(12, {0}),
     with(UserValues(11, {0}), {kOne}), 5'000},
    {"AutoUnderRho", kMean, by(UserMethod::kAuto, zcdp(0.5)), with(kOthers, {0, 0, 0}),
     with(kOthers, {kOne, kOne, kOne}), 60'000},
    {"BoundedUnderRho", kMean, at_most(UserMethod::kBounded, 2, zcdp(0.5)), kOthers,
     with(kOthers, times(50, kOne)), 60'000},
    {"VarianceUnderRho", kVariance, by(UserMethod::kArray, zcdp(0.5)), with(kOthers, {0, 0, 0}),
     with(kOthers, {0, 0, kOne}), 60'000},
    {"VarianceBoundedUnderRho", kVariance, at_most(UserMethod::kBounded, 2, zcdp(0.5)), kOthers,
     with(kOthers, {0, kOne}), 60'000},
    {"VarianceBoundedOfOthers", kVariance, at_most(UserMethod::kBounded, 2, pure(1)), kOthers,
     with(kOthers, {0, kOne}), 100'000},
};

// In the worst cases the noise-free answers differ by the whole sensitivity. Clamping puts the half
// of the law that tells the neighbours apart on one outcome.
const std::vector<Neighbours> kWorstCases = {
    {"Baseline", kMean, by(UserMethod::kBaseline, pure(0.5)), {{0, 0}}, {{kOne, kOne}}, 100'000},
    {"Array", kMean, at_most(UserMethod::kArray, 1, pure(0.5)), {{0, 0}}, {{kOne, kOne}}, 100'000},
    {"LevyInTheWholeRange", kMean, by(UserMethod::kLevy, pure(0.5)), {{0}}, {{kOne}}, 100'000},
    {"Bounded", kMean, at_most(UserMethod::kBounded, 1, pure(0.3)), {}, {{kOne, kOne}}, 400'000},
    {"Variance", kVariance, by(UserMethod::kArray, pure(0.5)), {{0, 0}}, {{0, kOne}}, 100'000},
    {"VarianceOdd",
     kVariance,
     by(UserMethod::kBaseline, pure(0.5)),
     {{0, 0}, {0}},
     {{0, kOne}, {0}},
     100'000},
    {"ArrayUnderRho",
     kMean,
     at_most(UserMethod::kArray, 1, zcdp(0.5)),
     {{0, 0}},
     {{kOne, kOne}},
     60'000},
    {"VarianceUnderRho",
     kVariance,
     by(UserMethod::kArray, zcdp(0.5)),
     {{0, 0}},
     {{0, kOne}},
     60'000},
    {"VarianceBounded",
     kVariance,
     at_most(UserMethod::kBounded, 1, pure(0.3)),
     {{0}},
     {{0}, {kOne}},
     400'000},
};

INSTANTIATE_TEST_SUITE_P(Cases, UserMechanism, ::testing::ValuesIn(kCases), case_name);
INSTANTIATE_TEST_SUITE_P(WorstCases, UserPrivacyCheck, ::testing::ValuesIn(kWorstCases), case_name);

// --- The private intervals -----------------------------------------------------------------------

class PrivateInterval : public ::testing::Test, protected Mechanisms {
 protected:
  using Arrays = std::vector<FilledArray>;
  static constexpr double kEpsilon = 1;

  // Arrays of one row: `low` arrays at 0, `middle` arrays in the middle, and one at `own`.
  static Arrays arrays(std::size_t low, std::size_t middle, std::uint32_t own) {
    Arrays all(low, FilledArray{1, 0});
    all.insert(all.end(), middle, FilledArray{1, kMiddle});
    all.push_back({1, own});
    return all;
  }

  // An outcome tells in which half of the range each end lies. Narrow windows are so much preferred
  // that a window of the whole range, which leaves nothing out, is rare.
  Sample window_sample(const Arrays& arrays, std::uint64_t clipped, double epsilon) {
    const WindowPlan plan{1, clipped, 2, 5};
    return take_sample(4, 40'000, [&] {
      const ClippingInterval interval = draw_window_interval(arrays, plan, epsilon, context_);
      return 2U * (interval.low >= kMiddle) + (interval.high > kMiddle);
    });
  }
  // Arrays of one row: `low` arrays at 0, `high` at kOne, and one at `own`.
  static Arrays at_ends(std::size_t low, std::size_t high, std::uint32_t own) {
    Arrays all = arrays(low, 0, own);
    all.insert(all.end(), high, FilledArray{1, kOne});
    return all;
  }
  double window_delta(std::size_t low, std::size_t high, std::uint64_t clipped, double spent) {
    return certain_delta(window_sample(at_ends(low, high, 0), clipped, spent),
                         window_sample(at_ends(low, high, kOne), clipped, spent), kEpsilon,
                         kFalseAlarm);
  }

  Sample levy_sample(const Arrays& arrays, double epsilon) {
    constexpr std::uint32_t kHalfWidth = kOne / 400;
    return take_sample(3, 200'000, [&] {
      const ClippingInterval interval = draw_levy_interval(arrays, kHalfWidth, epsilon, context_);
      const std::uint32_t reach = 4 * kHalfWidth;
      return interval.high < kMiddle ? 0U : interval.high > kMiddle + reach ? 2U : 1U;
    });
  }
  double levy_delta(double spent) {
    return certain_delta(levy_sample(arrays(2, 3, 0), spent),
                         levy_sample(arrays(2, 3, kOne), spent), kEpsilon, kFalseAlarm);
  }
};

TEST_F(PrivateInterval, OfQuantilesKeepsEpsilon) {
  EXPECT_LE(window_delta(3, 5, 0, kEpsilon), 0);
  EXPECT_LE(window_delta(0, 9, 1, kEpsilon), 0);
  EXPECT_LE(window_delta(4, 4, 2, kEpsilon), 0);
}

// With lambda = 1 a window in the lower half has probability 0.23 for one dataset and 0.044 for the
// other. The first exceeds e times the second by 0.1, more than 30 standard deviations.
TEST_F(PrivateInterval, OfQuantilesIsRefutedWithHalfTheNoise) {
  EXPECT_GT(window_delta(3, 5, 0, 2 * kEpsilon), 0);
}

TEST_F(PrivateInterval, OfLevyKeepsEpsilon) {
  EXPECT_LE(levy_delta(kEpsilon), 0);
}

// With twice the epsilon the last outcome has probability 0.263 for one dataset and 0.0465 for the
// other. The first exceeds e times the second by 0.13.
TEST_F(PrivateInterval, OfLevyIsRefutedWithHalfTheNoise) {
  EXPECT_GT(levy_delta(2 * kEpsilon), 0);
}

// --- Many grids ----------------------------------------------------------------------------------

class UserGridRelease : public ::testing::Test, protected Mechanisms {
 protected:
  // Two users in two grids, with one row in each: one has this value, the other 0.
  static std::vector<UserRow> rows(std::uint32_t value) {
    return {{1, 0, value}, {1, 1, value}, {2, 0, 0}, {2, 1, 0}};
  }

  // An outcome tells for each statistic whether it is at its lower end.
  Sample sample(std::uint32_t value, const PrivacyParameter& spent) {
    const GroupedRows grouped(rows(value), Contribution::kUserInGrid);
    return take_sample(16, 200'000, [&] {
      const GridRelease release = user_grid_stats(*grouped, 2, spent, false, context_);
      std::size_t outcome = 0;
      for (const GridStatistics& grid : release.grids) {
        outcome = 4 * outcome + 2U * (grid.mean == 0) + (grid.variance == 0);
      }
      return outcome;
    });
  }
  // By how much the bound on delta exceeds the claim.
  double excess(const PrivacyParameter& claimed, const PrivacyParameter& spent) {
    const Claim claim = claim_of(claimed);
    return certain_delta(sample(0, spent), sample(kOne, spent), claim.epsilon, kFalseAlarm) -
           claim.delta;
  }
};

TEST_F(UserGridRelease, KeepsItsGuarantee) {
  for (const PrivacyParameter& claimed : {pure(1), zcdp(0.5)})
    EXPECT_LE(excess(claimed, claimed), 0);
}

// All statistics move by their sensitivities, and the scales of the noise are twice these. The
// event that all are at their lower ends has probability 1/16 for one dataset and e^-2 / 16 for the
// other. The first exceeds e times the second by 0.039.
TEST_F(UserGridRelease, IsRefutedWithHalfTheNoise) {
  EXPECT_GT(excess(pure(1), pure(2)), 0);
}

// Each sigma is one sensitivity. The event has probability 1/16 for one dataset and 0.00063 for the
// other. The claim is (2.75, 0.01): the first exceeds e^2.75 times the second by 0.052.
TEST_F(UserGridRelease, IsRefutedWithHalfTheNoiseUnderRho) {
  EXPECT_GT(excess(zcdp(0.5), zcdp(2)), 0);
}

}  // namespace
}  // namespace dpquantile
