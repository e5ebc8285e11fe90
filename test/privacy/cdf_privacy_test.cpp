#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "../unit/case_name.hpp"
#include "../unit/cdf_law.hpp"
#include "../unit/cdf_testing.hpp"
#include "privacy_loss.hpp"

// Tries to refute that release_cdf is epsilon-differentially private for adding or removing one
// record, in two ways. The exact law of small cases must not lose more than epsilon, and releases
// must follow that law. And from releases alone no event may be found that is more likely than
// e^epsilon allows.
namespace dpquantile {
namespace {

using test::case_name;
using test::cdf_law;
using test::CdfReleaseLaw;
using test::CdfSampler;
using test::certain_delta;
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

// Records by bin, and where one more is added.
struct Neighbours {
  Counts counts;
  std::uint32_t added;

  Counts with_added() const {
    Counts larger = counts;
    ++larger[added];
    return larger;
  }
};

// The probabilities of each release, in one order for both laws, together with the event that all
// measurements lie within `reach` of the smaller dataset's counts.
struct LawPair {
  std::vector<Cumulative> outcomes;
  Probabilities law;
  Probabilities neighbour;
};

LawPair laws(const CdfLaw& law, const Neighbours& neighbours,
             const std::vector<std::int64_t>& reach) {
  const CdfReleaseLaw of_data(law, neighbours.counts, neighbours.counts, reach);
  const CdfReleaseLaw of_neighbour(law, neighbours.with_added(), neighbours.counts, reach);
  LawPair pair;
  for (const auto& [release, probability] : of_data.probabilities()) {
    pair.outcomes.push_back(release);
    pair.law.push_back(probability);
    pair.neighbour.push_back(of_neighbour.probabilities().at(release));
  }
  return pair;
}

Real loss(const CdfLaw& law, const Neighbours& neighbours, std::int64_t reach = 2) {
  const LawPair pair = laws(law, neighbours, std::vector<std::int64_t>(law.levels, reach));
  return exact_loss(pair.law, pair.neighbour);
}

// All datasets with up to so many records in a bin.
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

void expect_keeps_epsilon(const CdfLaw& law, std::uint64_t most_in_a_bin) {
  for (const Counts& counts : all_counts(law.bins, most_in_a_bin)) {
    for (std::uint32_t added = 0; added < law.bins; ++added) {
      ASSERT_LE(loss(law, {counts, added}), law.epsilon + kRounding) << law.bins << " " << added;
    }
  }
}

TEST(ExactCdfPrivacyOfAllSmallData, IsKeptByEveryMethod) {
  for (const CdfMethod method : kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 3U}) {
      for (const double epsilon : kEpsilons) {
        expect_keeps_epsilon(choose_cdf_law(method, bins, epsilon), 2);
      }
    }
  }
}

TEST(ExactCdfPrivacyOfAllSmallData, IsKeptByTreesWithBudgetsOfAnyKind) {
  for (const double epsilon : kEpsilons) {
    expect_keeps_epsilon(cdf_law(3, {2, 2}, {0.2 * epsilon, 0.8 * epsilon}), 2);
    expect_keeps_epsilon(cdf_law(3, {2, 2}, {0.7 * epsilon, 0.3 * epsilon}), 1);
  }
  expect_keeps_epsilon(cdf_law(4, {2, 2}, {0.4, 0.6}), 1);
}

// Records in plenty, so that nothing is clipped: the loss is epsilon itself, so that a smaller
// claim would be wrong and a law with half the noise is refuted.
TEST(ExactCdfPrivacyOfManyRecords, IsEpsilonAndNotMore) {
  for (const CdfMethod method : kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 3U}) {
      for (const double epsilon : kEpsilons) {
        const Neighbours neighbours{Counts(bins, 50), bins - 1};
        const Real certain = loss(choose_cdf_law(method, bins, epsilon), neighbours);
        EXPECT_LE(certain, epsilon + kRounding);
        EXPECT_GT(certain, 0.99L * epsilon);
        EXPECT_GT(loss(choose_cdf_law(method, bins, 2 * epsilon), neighbours), 1.9L * epsilon);
      }
    }
  }
}

// --- Releases of the exact law -------------------------------------------------------------------

struct FollowedLaw {
  std::string name;
  CdfLaw law;
  Neighbours neighbours;
  std::vector<std::int64_t> reach;  // beyond it lies less than 10^-6
};

void PrintTo(const FollowedLaw& followed, std::ostream* out) {
  *out << followed.name;
}

// Outcomes that are too rare for the rest beyond the reach not to matter are put together.
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

Sample sample_of(const CdfLaw& law, const Counts& counts, const WatchedOutcomes& watched) {
  constexpr int kDraws = 60'000;
  CdfSampler sampler(counts, law);
  return take_sample(watched.law.size(), kDraws, [&] {
    const auto release = sampler.draw();
    const auto found = watched.index.find({release.begin(), release.end()});
    return found == watched.index.end() ? watched.law.size() - 1 : found->second;
  });
}

class CdfPrivacy : public ::testing::TestWithParam<FollowedLaw> {};

TEST_P(CdfPrivacy, IsKeptByReleasesThatFollowTheExactLaw) {
  const auto& [name, law, neighbours, reach] = GetParam();
  const WatchedOutcomes watched = watched_outcomes(laws(law, neighbours, reach));
  const Sample sample = sample_of(law, neighbours.counts, watched);
  const Sample neighbour = sample_of(law, neighbours.with_added(), watched);
  EXPECT_GT(fit_p_value(sample, watched.law), kFalseAlarm);
  EXPECT_GT(fit_p_value(neighbour, watched.neighbour), kFalseAlarm);
  EXPECT_LE(certain_delta(sample, neighbour, law.epsilon, kFalseAlarm), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Of, CdfPrivacy,
    ::testing::Values(
        FollowedLaw{"OneBin", choose_cdf_law(CdfMethod::kTree, 1, 0.5), {{20}, 0}, {35}},
        FollowedLaw{"OneBinWithoutRecords", choose_cdf_law(CdfMethod::kTree, 1, 1), {{0}, 0}, {20}},
        FollowedLaw{"TwoBins", choose_cdf_law(CdfMethod::kTree, 2, 1), {{0, 3}, 0}, {20}},
        FollowedLaw{"Histogram", choose_cdf_law(CdfMethod::kHistogram, 3, 1), {{2, 0, 5}, 1}, {18}},
        FollowedLaw{"Binary", choose_cdf_law(CdfMethod::kBinary, 3, 7), {{1, 0, 2}, 0}, {5, 5}},
        FollowedLaw{
            "BinaryAtTheEdge", choose_cdf_law(CdfMethod::kBinary, 3, 7), {{1, 0, 2}, 2}, {5, 5}},
        FollowedLaw{"UnevenTree", cdf_law(4, {2, 2}, {4, 6}), {{3, 0, 1, 0}, 1}, {4, 3}},
        FollowedLaw{"UnevenTreeOtherWayRound", cdf_law(3, {2, 2}, {6, 3}), {{0, 0, 0}, 1}, {3, 6}}),
    case_name);

// --- Releases of larger trees, and the power of the check ----------------------------------------

// A case, with the counts that are looked at: fewer make a smaller space of outcomes.
struct WatchedRelease {
  std::string name;
  CdfMethod method;
  Neighbours neighbours;
  std::vector<std::size_t> watched;
  double epsilon;
  int draws;
};

void PrintTo(const WatchedRelease& watched, std::ostream* out) {
  *out << watched.name;
}

// Outcomes are the distances from the smaller dataset's counts, clamped to both sides.
Sample watched_sample(const WatchedRelease& release, const Counts& counts, double spent) {
  const std::int64_t reach = release.epsilon < 0.3 ? 40 : 6;
  const auto side = static_cast<std::size_t>(2 * reach + 1);
  const auto bins = static_cast<std::uint32_t>(counts.size());
  CdfSampler sampler(counts, choose_cdf_law(release.method, bins, spent));
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

// The bound on delta at the epsilon claimed, for releases that spend `spent`.
double delta_when_spending(const WatchedRelease& release, double spent) {
  return certain_delta(watched_sample(release, release.neighbours.counts, spent),
                       watched_sample(release, release.neighbours.with_added(), spent),
                       release.epsilon, kFalseAlarm);
}

class CdfPrivacyCheck : public ::testing::TestWithParam<WatchedRelease> {};

TEST_P(CdfPrivacyCheck, AcceptsTheMechanism) {
  EXPECT_LE(delta_when_spending(GetParam(), GetParam().epsilon), 0);
}

class CdfPrivacyWorstCase : public CdfPrivacyCheck {};

// In each case the bound lies above 0.03, more than 20 of its standard deviations.
TEST_P(CdfPrivacyWorstCase, WithHalfTheNoiseIsCaught) {
  EXPECT_GT(delta_when_spending(GetParam(), 2 * GetParam().epsilon), 0);
}

const std::vector<WatchedRelease> kWorstCases = {
    {"OneBinAtATenth", CdfMethod::kTree, {{400}, 0}, {0}, 0.1, 150'000},
    {"OneBinAtOne", CdfMethod::kTree, {{40}, 0}, {0}, 1, 60'000},
    {"TwoBinsAtOne", CdfMethod::kTree, {{40, 40}, 1}, {0, 1}, 1, 60'000},
    {"HistogramAtOne", CdfMethod::kHistogram, {Counts(8, 40), 0}, {0}, 1, 60'000},
    {"BinaryAtOne", CdfMethod::kBinary, {{40, 40, 40}, 0}, {0, 1, 2}, 1, 60'000},
    {"BinaryAtThree", CdfMethod::kBinary, {{40, 40, 40}, 2}, {1, 2}, 3, 50'000},
    {"TreeAtOne", CdfMethod::kTree, {Counts(20, 40), 0}, {0, 9, 19}, 1, 30'000},
    {"TreeAtThree", CdfMethod::kTree, {Counts(20, 40), 0}, {0, 9, 19}, 3, 30'000},
};

const std::vector<WatchedRelease> kOtherPlaces = {
    {"TreeInTheMiddle", CdfMethod::kTree, {Counts(20, 40), 9}, {8, 9, 19}, 1, 30'000},
    {"TreeAtTheRightEdge", CdfMethod::kTree, {Counts(20, 40), 19}, {9, 18, 19}, 1, 30'000},
    {"TreeWithoutRecords", CdfMethod::kTree, {Counts(20, 0), 7}, {6, 7, 19}, 1, 30'000},
    {"TreeOfThreeLevels", CdfMethod::kTree, {Counts(300, 2), 0}, {0, 20, 299}, 3, 3'000},
    {"BinaryInTheMiddle", CdfMethod::kBinary, {Counts(11, 3), 5}, {4, 5, 10}, 3, 30'000},
    {"BinaryWithoutRecords", CdfMethod::kBinary, {Counts(11, 0), 10}, {8, 9, 10}, 3, 30'000},
    {"HistogramInTheMiddle", CdfMethod::kHistogram, {Counts(9, 0), 4}, {3, 4, 8}, 1, 40'000},
};

INSTANTIATE_TEST_SUITE_P(Of, CdfPrivacyCheck, ::testing::ValuesIn(kWorstCases), case_name);
INSTANTIATE_TEST_SUITE_P(Elsewhere, CdfPrivacyCheck, ::testing::ValuesIn(kOtherPlaces), case_name);
INSTANTIATE_TEST_SUITE_P(Of, CdfPrivacyWorstCase, ::testing::ValuesIn(kWorstCases), case_name);

}  // namespace
}  // namespace dpquantile
