#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "core/privacy/zcdp.hpp"
#include "support/case_name.hpp"
#include "support/cdf_law.hpp"
#include "support/cdf_testing.hpp"
#include "support/claim.hpp"
#include "support/privacy_loss.hpp"

// Tries to refute that release_cdf is epsilon-differentially private, or rho-zCDP, for adding or
// removing one record, in two ways:
//
// - The exact law of small cases must not lose more than epsilon or have Renyi divergences above
//   rho times their order, and releases must follow that law.
// - In releases alone no event may be more likely than e^epsilon allows, or than the
//   (epsilon, delta) that follow from rho allow.
namespace dpquantile {
namespace {

using test::case_name;
using test::cdf_plan;
using test::CdfReleaseLaw;
using test::CdfSampler;
using test::certain_delta;
using test::Claim;
using test::claim_of;
using test::Cumulative;
using test::exact_loss;
using test::fit_p_value;
using test::kCdfMethods;
using test::kFalseAlarm;
using test::Real;
using test::Sample;
using test::take_sample;

using Counts = std::vector<std::uint64_t>;
using Probabilities = std::vector<long double>;

constexpr double kEpsilons[] = {0.1, 0.5, 1, 3};
constexpr Real kRounding = 1e-9L;

// --- The exact law -------------------------------------------------------------------------------

// The number of records in each bin, and the bin that gets one more.
struct Neighbours {
  Counts counts;
  std::uint32_t added;

  Counts with_added() const {
    Counts larger = counts;
    ++larger[added];
    return larger;
  }
};

// The probabilities of "this release, and all measurements lie within `reach` of the smaller
// dataset's counts" for each release, in one order for both laws.
struct LawPair {
  std::vector<Cumulative> outcomes;
  Probabilities law;
  Probabilities neighbour;
};

LawPair laws(const CdfPlan& plan, const Neighbours& neighbours,
             const std::vector<std::int64_t>& reach) {
  const CdfReleaseLaw of_data(plan, neighbours.counts, neighbours.counts, reach);
  const CdfReleaseLaw of_neighbour(plan, neighbours.with_added(), neighbours.counts, reach);
  LawPair pair;
  for (const auto& [release, probability] : of_data.probabilities()) {
    pair.outcomes.push_back(release);
    pair.law.push_back(probability);
    pair.neighbour.push_back(of_neighbour.probabilities().at(release));
  }
  return pair;
}

Real loss(const CdfPlan& plan, const Neighbours& neighbours, std::int64_t reach = 2) {
  const LawPair pair = laws(plan, neighbours, std::vector<std::int64_t>(plan.levels, reach));
  return exact_loss(pair.law, pair.neighbour);
}

// All datasets with up to `most` records in a bin.
std::vector<Counts> all_counts(std::uint32_t bins, std::uint64_t most) {
  if (bins == 0) return {{}};
  std::vector<Counts> all;
  for (const Counts& counts : all_counts(bins - 1, most)) {
    for (std::uint64_t count = 0; count <= most; ++count) {
      all.push_back(counts);
      all.back().push_back(count);
    }
  }
  return all;
}

void expect_keeps_epsilon(const CdfPlan& plan, std::uint64_t most_in_a_bin) {
  for (const Counts& counts : all_counts(plan.bins, most_in_a_bin)) {
    for (std::uint32_t added = 0; added < plan.bins; ++added) {
      ASSERT_LE(loss(plan, {counts, added}), plan.privacy.value + kRounding)
          << plan.bins << " " << added;
    }
  }
}

TEST(ExactCdfLawOfAllSmallData, KeepsEpsilonWithEveryMethod) {
  for (const CdfMethod method : kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 3U}) {
      for (const double epsilon : kEpsilons) {
        expect_keeps_epsilon(choose_cdf_plan(method, bins, pure(epsilon)), 2);
      }
    }
  }
}

TEST(ExactCdfLawOfAllSmallData, KeepsEpsilonWithUnevenBudgetsOfLevels) {
  for (const double epsilon : kEpsilons) {
    expect_keeps_epsilon(cdf_plan(3, {2, 2}, {0.2 * epsilon, 0.8 * epsilon}), 2);
    expect_keeps_epsilon(cdf_plan(3, {2, 2}, {0.7 * epsilon, 0.3 * epsilon}), 1);
  }
  expect_keeps_epsilon(cdf_plan(4, {2, 2}, {0.4, 0.6}), 1);
}

// With many records nothing is clipped, so the loss is epsilon itself: a smaller claim would be
// wrong, and a law with half the noise is refuted.
TEST(ExactCdfLawOfManyRecords, LosesEpsilonAndNotMore) {
  for (const CdfMethod method : kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 3U}) {
      for (const double epsilon : kEpsilons) {
        const Neighbours neighbours{Counts(bins, 50), bins - 1};
        const Real certain = loss(choose_cdf_plan(method, bins, pure(epsilon)), neighbours);
        EXPECT_LE(certain, epsilon + kRounding);
        EXPECT_GT(certain, 0.99L * epsilon);
        EXPECT_GT(loss(choose_cdf_plan(method, bins, pure(2 * epsilon)), neighbours),
                  1.9L * epsilon);
      }
    }
  }
}

// --- The exact law under zCDP --------------------------------------------------------------------

constexpr Real kOrders[] = {1.001L, 1.1L, 1.5L, 2, 3, 8, 32};
constexpr double kRhos[] = {0.005, 0.1, 0.5, 2};

// The largest Renyi divergence divided by its order, in both directions. It must not exceed rho.
// The moments leave out the outcomes beyond the reach. They are sums of positive terms, so this can
// only make them smaller.
Real largest_zcdp_loss(const LawPair& pair) {
  Real largest = 0;
  for (const Real order : kOrders) {
    Real forth = 0;
    Real back = 0;
    for (std::size_t i = 0; i < pair.law.size(); ++i) {
      if (pair.law[i] == 0 || pair.neighbour[i] == 0) continue;
      const Real loss = std::log(pair.law[i]) - std::log(pair.neighbour[i]);
      forth += pair.law[i] * std::exp((order - 1) * loss);
      back += pair.neighbour[i] * std::exp((1 - order) * loss);
    }
    largest = std::max(largest, std::log(std::max(forth, back)) / (order - 1) / order);
  }
  return largest;
}

// A reach of this number of standard deviations on each level.
std::vector<std::int64_t> reach_of(const CdfPlan& plan, Real deviations) {
  std::vector<std::int64_t> reach;
  for (const double rho : plan.level_budget()) {
    reach.push_back(static_cast<std::int64_t>(std::ceil(deviations / std::sqrt(2 * rho))) + 1);
  }
  return reach;
}

Real zcdp_loss(const CdfPlan& plan, const Neighbours& neighbours, Real deviations) {
  return largest_zcdp_loss(laws(plan, neighbours, reach_of(plan, deviations)));
}

// For one and two nodes the reach is large enough for all orders.
TEST(ExactCdfZcdpLawOfAllSmallData, KeepsRho) {
  for (const double rho : kRhos) {
    const CdfPlan one = choose_cdf_plan(CdfMethod::kTree, 1, zcdp(rho));
    for (const std::uint64_t count : {0U, 1U, 2U, 5U}) {
      EXPECT_LE(zcdp_loss(one, {{count}, 0}, 24), rho + kRounding) << count;
    }
    if (rho < 0.1) continue;
    const CdfPlan two = choose_cdf_plan(CdfMethod::kTree, 2, zcdp(rho));
    for (const Counts& counts : all_counts(2, 2)) {
      for (const std::uint32_t added : {0U, 1U}) {
        EXPECT_LE(zcdp_loss(two, {counts, added}, 10), rho + kRounding) << added;
      }
    }
  }
}

TEST(ExactCdfZcdpLawOfAllSmallData, KeepsRhoWithUnevenBudgetsOfLevels) {
  for (const auto& budgets : {std::vector<double>{0.5, 2}, {2.5, 0.8}, {1.5, 1.5}}) {
    const CdfPlan plan = cdf_plan(3, {2, 2}, budgets, PrivacyMeasure::kZcdp);
    for (const Counts& counts : all_counts(3, 1)) {
      for (std::uint32_t added = 0; added < 3; ++added) {
        EXPECT_LE(zcdp_loss(plan, {counts, added}, 3), plan.privacy.value + kRounding) << added;
      }
    }
  }
}

// With many records nothing is clipped. If the release determines all measurements, the loss is
// nearly rho, and a law with half of the standard deviation is refuted.
TEST(ExactCdfZcdpLawOfManyRecords, LosesRhoAndNotMore) {
  for (const double rho : {0.005, 0.02, 0.1}) {
    const Neighbours one{{200}, 0};
    const Real certain = zcdp_loss(choose_cdf_plan(CdfMethod::kTree, 1, zcdp(rho)), one, 24);
    EXPECT_LE(certain, rho + kRounding);
    EXPECT_GT(certain, 0.99L * rho);
    EXPECT_GT(zcdp_loss(choose_cdf_plan(CdfMethod::kTree, 1, zcdp(4 * rho)), one, 24), 3.9L * rho);
  }
  const Neighbours two{{200, 200}, 1};
  const Real certain = zcdp_loss(choose_cdf_plan(CdfMethod::kHistogram, 2, zcdp(0.1)), two, 12);
  EXPECT_LE(certain, 0.1L + kRounding);
  EXPECT_GT(certain, 0.09L);
}

// Both levels change, so their costs add up. The cumulative counts are far apart, so least squares
// is the only post-processing with an effect. No level alone loses more than 1.2 of the 1.8.
TEST(ExactCdfZcdpLawOfManyRecords, AddsUpRhoOverTheLevels) {
  const CdfPlan plan = cdf_plan(3, {2, 2}, {0.6, 1.2}, PrivacyMeasure::kZcdp);
  const Neighbours neighbours{{50, 50, 50}, 0};
  const LawPair pair = laws(plan, neighbours, reach_of(plan, 4));
  EXPECT_LE(largest_zcdp_loss(pair), plan.privacy.value + kRounding);
  EXPECT_GT(largest_zcdp_loss(pair), 0.95L * plan.privacy.value);
}

// --- Laplace noise under zCDP --------------------------------------------------------------------

// A level's noise acts like randomised response, whose rho is the one stated and no smaller.
TEST(ExactLaplaceCdfLaw, LosesRhoOfCdfAndNotMore) {
  for (const double epsilon : kEpsilons) {
    const CdfPlan one = choose_cdf_plan(CdfMethod::kTree, 1, pure(epsilon));
    const std::int64_t reach = std::lround(45 / epsilon);
    const LawPair pair = laws(one, {{10'000}, 0}, {reach});
    EXPECT_LE(largest_zcdp_loss(pair), rho_of_cdf(one) + kRounding);
    EXPECT_GT(largest_zcdp_loss(pair), 0.99L * rho_of_cdf(one));
  }
}

TEST(ExactLaplaceCdfLaw, KeepsRhoOfCdfOverSeveralLevels) {
  for (const std::uint32_t added : {0U, 1U, 2U}) {
    const CdfPlan plan = cdf_plan(3, {2, 2}, {3, 4});
    const LawPair pair = laws(plan, {{9, 9, 9}, added}, {4, 3});
    EXPECT_LE(largest_zcdp_loss(pair), rho_of_cdf(plan) + kRounding) << added;
  }
}

// --- Releases of the exact law -------------------------------------------------------------------

struct FollowedLaw {
  std::string name;
  CdfPlan plan;
  Neighbours neighbours;
  std::vector<std::int64_t> reach;  // the probability beyond it is below 10^-6
};

void PrintTo(const FollowedLaw& followed, std::ostream* out) {
  *out << followed.name;
}

// One outcome combines the releases so rare that the probability beyond the reach would matter.
struct WatchedOutcomes {
  std::map<Cumulative, std::size_t> index;
  Probabilities law;
  Probabilities neighbour;
};

WatchedOutcomes watched_outcomes(const LawPair& pair) {
  constexpr long double kRare = 1e-4L;
  WatchedOutcomes watched;
  long double rest = 1;
  long double neighbour_rest = 1;
  for (std::size_t i = 0; i < pair.outcomes.size(); ++i) {
    if (pair.law[i] < kRare || pair.neighbour[i] < kRare) continue;
    watched.index[pair.outcomes[i]] = watched.law.size();
    watched.law.push_back(pair.law[i]);
    watched.neighbour.push_back(pair.neighbour[i]);
    rest -= pair.law[i];
    neighbour_rest -= pair.neighbour[i];
  }
  watched.law.push_back(rest);
  watched.neighbour.push_back(neighbour_rest);
  return watched;
}

Sample sample_of(const CdfPlan& plan, const Counts& counts, const WatchedOutcomes& watched) {
  constexpr int kDraws = 60'000;
  CdfSampler sampler(counts, plan);
  return take_sample(watched.law.size(), kDraws, [&] {
    const auto release = sampler.draw();
    const auto found = watched.index.find({release.begin(), release.end()});
    return found == watched.index.end() ? watched.law.size() - 1 : found->second;
  });
}

// rho-zCDP implies (epsilon, delta) for every delta, with the epsilon of epsilon_of_zcdp().
void expect_keeps_rho(const Sample& sample, const Sample& neighbour, double rho) {
  for (const double delta : {0.3, 0.1, 0.01, 1e-4}) {
    const double epsilon = epsilon_of_zcdp(rho, delta);
    EXPECT_LE(certain_delta(sample, neighbour, epsilon, kFalseAlarm), delta) << epsilon;
  }
}

class CdfReleases : public ::testing::TestWithParam<FollowedLaw> {};

TEST_P(CdfReleases, FollowTheExactLawAndKeepPrivacy) {
  const auto& [name, plan, neighbours, reach] = GetParam();
  const WatchedOutcomes watched = watched_outcomes(laws(plan, neighbours, reach));
  const Sample sample = sample_of(plan, neighbours.counts, watched);
  const Sample neighbour = sample_of(plan, neighbours.with_added(), watched);
  EXPECT_GT(fit_p_value(sample, watched.law), kFalseAlarm);
  EXPECT_GT(fit_p_value(neighbour, watched.neighbour), kFalseAlarm);
  if (plan.privacy.measure == PrivacyMeasure::kPure) {
    EXPECT_LE(certain_delta(sample, neighbour, plan.privacy.value, kFalseAlarm), 0);
  } else {
    expect_keeps_rho(sample, neighbour, plan.privacy.value);
  }
}

INSTANTIATE_TEST_SUITE_P(
    SmallCases, CdfReleases,
    ::testing::Values(
        FollowedLaw{"OneBin", choose_cdf_plan(CdfMethod::kTree, 1, pure(0.5)), {{20}, 0}, {35}},
        FollowedLaw{
            "OneBinWithoutRecords", choose_cdf_plan(CdfMethod::kTree, 1, pure(1)), {{0}, 0}, {20}},
        FollowedLaw{"TwoBins", choose_cdf_plan(CdfMethod::kTree, 2, pure(1)), {{0, 3}, 0}, {20}},
        FollowedLaw{
            "Histogram", choose_cdf_plan(CdfMethod::kHistogram, 3, pure(1)), {{2, 0, 5}, 1}, {18}},
        FollowedLaw{
            "Binary", choose_cdf_plan(CdfMethod::kBinary, 3, pure(7)), {{1, 0, 2}, 0}, {5, 5}},
        FollowedLaw{"BinaryAtTheEdge",
                    choose_cdf_plan(CdfMethod::kBinary, 3, pure(7)),
                    {{1, 0, 2}, 2},
                    {5, 5}},
        FollowedLaw{
            "GaussianOneBin", choose_cdf_plan(CdfMethod::kTree, 1, zcdp(0.1)), {{20}, 0}, {16}},
        FollowedLaw{"GaussianOneBinWithoutRecords",
                    choose_cdf_plan(CdfMethod::kTree, 1, zcdp(0.5)),
                    {{0}, 0},
                    {8}},
        FollowedLaw{"GaussianHistogram",
                    choose_cdf_plan(CdfMethod::kHistogram, 3, zcdp(0.3)),
                    {{2, 0, 5}, 1},
                    {9}},
        FollowedLaw{"GaussianBinary",
                    choose_cdf_plan(CdfMethod::kBinary, 3, zcdp(3)),
                    {{1, 0, 2}, 0},
                    {5, 5}},
        FollowedLaw{"GaussianUnevenTree",
                    cdf_plan(4, {2, 2}, {2, 1}, PrivacyMeasure::kZcdp),
                    {{3, 0, 1, 0}, 1},
                    {4, 5}},
        FollowedLaw{"UnevenTree", cdf_plan(4, {2, 2}, {4, 6}), {{3, 0, 1, 0}, 1}, {4, 3}},
        FollowedLaw{
            "UnevenTreeOtherWayRound", cdf_plan(3, {2, 2}, {6, 3}), {{0, 0, 0}, 1}, {3, 6}}),
    case_name);

// --- Releases of larger trees, and the power of the check ----------------------------------------

// A case and the bins whose counts the check sees. Fewer bins make a smaller space of outcomes.
struct WatchedRelease {
  std::string name;
  CdfMethod method;
  Neighbours neighbours;
  std::vector<std::size_t> watched;
  PrivacyParameter privacy;
  int draws;
};

void PrintTo(const WatchedRelease& watched, std::ostream* out) {
  *out << watched.name;
}

// An outcome is the distances from the smaller dataset's counts, clamped to [-reach, reach].
Sample watched_sample(const WatchedRelease& release, const Counts& counts,
                      const PrivacyParameter& spent) {
  const std::int64_t reach = release.privacy.value < 0.3 ? 40 : 6;
  const auto side = static_cast<std::size_t>(2 * reach + 1);
  const auto bins = static_cast<std::uint32_t>(counts.size());
  CdfSampler sampler(counts, choose_cdf_plan(release.method, bins, spent));
  Cumulative centre;
  std::int64_t sum = 0;
  for (const std::uint64_t count : release.neighbours.counts) {
    centre.push_back(sum += static_cast<std::int64_t>(count));
  }
  std::size_t outcomes = 1;
  for (std::size_t i = 0; i < release.watched.size(); ++i) outcomes *= side;
  return take_sample(outcomes, release.draws, [&] {
    const auto cumulative = sampler.draw();
    std::size_t outcome = 0;
    for (const std::size_t i : release.watched) {
      const std::int64_t distance = std::clamp(cumulative[i] - centre[i], -reach, reach);
      outcome = outcome * side + static_cast<std::size_t>(distance + reach);
    }
    return outcome;
  });
}

// By how much the bound on delta exceeds the claim, for releases that spend `spent`.
double excess_when_spending(const WatchedRelease& release, const PrivacyParameter& spent) {
  const Claim claim = claim_of(release.privacy);
  return certain_delta(watched_sample(release, release.neighbours.counts, spent),
                       watched_sample(release, release.neighbours.with_added(), spent),
                       claim.epsilon, kFalseAlarm) -
         claim.delta;
}

class CdfPrivacyCheck : public ::testing::TestWithParam<WatchedRelease> {};

TEST_P(CdfPrivacyCheck, AcceptsTheMechanism) {
  EXPECT_LE(excess_when_spending(GetParam(), GetParam().privacy), 0);
}

class CdfPrivacyCheckOfWorstCases : public CdfPrivacyCheck {};

// In each case the bound lies above 0.03, more than 20 of its standard deviations.
TEST_P(CdfPrivacyCheckOfWorstCases, CatchesHalfTheNoise) {
  const auto [measure, value] = GetParam().privacy;
  const double factor = measure == PrivacyMeasure::kPure ? 2 : 4;
  EXPECT_GT(excess_when_spending(GetParam(), {measure, factor * value}), 0);
}

const std::vector<WatchedRelease> kWorstCases = {
    {"OneBinAtATenth", CdfMethod::kTree, {{400}, 0}, {0}, pure(0.1), 150'000},
    {"OneBinAtOne", CdfMethod::kTree, {{40}, 0}, {0}, pure(1), 60'000},
    {"TwoBinsAtOne", CdfMethod::kTree, {{40, 40}, 1}, {0, 1}, pure(1), 60'000},
    {"HistogramAtOne", CdfMethod::kHistogram, {Counts(8, 40), 0}, {0}, pure(1), 60'000},
    {"BinaryAtOne", CdfMethod::kBinary, {{40, 40, 40}, 0}, {0, 1, 2}, pure(1), 60'000},
    {"BinaryAtThree", CdfMethod::kBinary, {{40, 40, 40}, 2}, {1, 2}, pure(3), 50'000},
    {"TreeAtOne", CdfMethod::kTree, {Counts(20, 40), 0}, {0, 9, 19}, pure(1), 30'000},
    {"TreeAtThree", CdfMethod::kTree, {Counts(20, 40), 0}, {0, 9, 19}, pure(3), 30'000},
    {"GaussianOneBin", CdfMethod::kTree, {{40}, 0}, {0}, zcdp(0.5), 60'000},
    {"GaussianOneBinAtATwentieth", CdfMethod::kTree, {{400}, 0}, {0}, zcdp(0.05), 150'000},
    {"GaussianTwoBins", CdfMethod::kTree, {{40, 40}, 1}, {0, 1}, zcdp(0.5), 60'000},
    {"GaussianHistogram", CdfMethod::kHistogram, {Counts(8, 40), 0}, {0}, zcdp(0.5), 60'000},
    {"GaussianBinary", CdfMethod::kBinary, {{40, 40, 40}, 0}, {0, 1, 2}, zcdp(0.5), 60'000},
};

const std::vector<WatchedRelease> kOtherPlaces = {
    {"TreeInTheMiddle", CdfMethod::kTree, {Counts(20, 40), 9}, {8, 9, 19}, pure(1), 30'000},
    {"TreeAtTheRightEdge", CdfMethod::kTree, {Counts(20, 40), 19}, {9, 18, 19}, pure(1), 30'000},
    {"TreeWithoutRecords", CdfMethod::kTree, {Counts(20, 0), 7}, {6, 7, 19}, pure(1), 30'000},
    {"TreeOfThreeLevels", CdfMethod::kTree, {Counts(300, 2), 0}, {0, 20, 299}, pure(3), 3'000},
    {"BinaryInTheMiddle", CdfMethod::kBinary, {Counts(11, 3), 5}, {4, 5, 10}, pure(3), 30'000},
    {"BinaryWithoutRecords", CdfMethod::kBinary, {Counts(11, 0), 10}, {8, 9, 10}, pure(3), 30'000},
    {"HistogramInTheMiddle", CdfMethod::kHistogram, {Counts(9, 0), 4}, {3, 4, 8}, pure(1), 40'000},
    {"GaussianTree", CdfMethod::kTree, {Counts(20, 40), 0}, {0, 9, 19}, zcdp(2), 30'000},
    {"GaussianTreeInTheMiddle",
     CdfMethod::kTree,
     {Counts(20, 40), 9},
     {8, 9, 19},
     zcdp(0.5),
     30'000},
    {"GaussianTreeWithoutRecords",
     CdfMethod::kTree,
     {Counts(20, 0), 7},
     {6, 7, 19},
     zcdp(0.5),
     30'000},
    {"GaussianTreeOfManyLevels",
     CdfMethod::kTree,
     {Counts(300, 2), 0},
     {0, 20, 299},
     zcdp(2),
     2'000},
};

INSTANTIATE_TEST_SUITE_P(WorstCases, CdfPrivacyCheck, ::testing::ValuesIn(kWorstCases), case_name);
INSTANTIATE_TEST_SUITE_P(OtherPlaces, CdfPrivacyCheck, ::testing::ValuesIn(kOtherPlaces),
                         case_name);
INSTANTIATE_TEST_SUITE_P(All, CdfPrivacyCheckOfWorstCases, ::testing::ValuesIn(kWorstCases),
                         case_name);

}  // namespace
}  // namespace dpquantile
