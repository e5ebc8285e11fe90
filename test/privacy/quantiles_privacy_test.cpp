#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "support/case_name.hpp"
#include "support/dataset.hpp"
#include "support/privacy_loss.hpp"
#include "support/quantile_density.hpp"
#include "support/quantiles_law.hpp"
#include "support/quantiles_sampler.hpp"

// Tries to refute that approximate_quantiles is epsilon-differentially private for adding or
// removing one record, in two ways:
//
// - The exact law of small cases, computed by an independent reference, must not lose more than
//   epsilon, and the mechanism's releases must follow that law.
// - In releases alone no event may be more likely than e^epsilon allows.
namespace dpquantile {
namespace {

using test::case_name;
using test::Cells;
using test::certain_delta;
using test::Dataset;
using test::exact_loss;
using test::fit_p_value;
using test::kFalseAlarm;
using test::Law;
using test::QuantileDensity;
using test::quantiles_law;
using test::QuantilesSampler;
using test::Real;
using test::RealRank;
using test::Sample;
using test::take_sample;

using Quantiles = std::vector<double>;
using Probabilities = std::vector<long double>;

const Quantiles kMedian = {0.5};
const Quantiles kQuartiles = {0.25, 0.5, 0.75};
const Quantiles kOctiles = {0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875};
const std::vector<Quantiles> kFewQuantiles = {
    {0.5}, {0}, {1}, {0.3}, {0.25, 0.75}, {0, 1}, {0.25, 0.5, 0.75}, {0.05, 0.5, 0.6}};
constexpr double kEpsilons[] = {0.1, 0.5, 1, 3};

// A dataset, and the same with one more record.
struct Neighbours {
  std::string name;
  Dataset data;
  std::uint32_t added;

  Dataset with_added() const {
    Dataset larger = data;
    larger.records.push_back(added);
    return larger;
  }
};

void PrintTo(const Neighbours& neighbours, std::ostream* out) {
  *out << neighbours.name;
}

const std::vector<Neighbours> kNeighbours = {
    {"AllOnOneCell", {4, {1, 1, 1}}, 1},
    {"AllOnOneCellAndOneElsewhere", {4, {1, 1, 1}}, 3},
    {"EmptyAndLowest", {4, {}}, 0},
    {"EmptyAndMiddle", {3, {}}, 1},
    {"LowestCell", {4, {0, 3, 3}}, 0},
    {"HighestCell", {4, {0, 0, 3}}, 3},
    {"CellThatTheFirstCutSplits", {3, {0, 1, 1, 2}}, 1},
    {"TwoCells", {2, {0, 1}}, 0},
    {"TwoCellsOppositeSides", {2, {1}}, 0},
    {"OneCell", {1, {0, 0}}, 0},
    {"Ties", {4, {0, 0, 2, 2}}, 2},
};

// kNeighbours and a pair whose exact law for many quantiles would take minutes.
std::vector<Neighbours> all_pairs() {
  std::vector<Neighbours> pairs = kNeighbours;
  pairs.push_back({"FarSideOfAGap", {12, {0}}, 9});
  return pairs;
}

// The probabilities of all monotone answers, in one order for both laws.
struct LawPair {
  std::vector<Cells> outcomes;
  Probabilities law;
  Probabilities neighbour;
};

LawPair laws(const Neighbours& neighbours, const Quantiles& quantiles, double epsilon) {
  const Law law = quantiles_law(neighbours.data, quantiles, epsilon);
  const Law neighbour = quantiles_law(neighbours.with_added(), quantiles, epsilon);
  EXPECT_EQ(law.size(), neighbour.size());
  LawPair pair;
  for (const auto& [cells, probability] : law) {
    pair.outcomes.push_back(cells);
    pair.law.push_back(probability);
    pair.neighbour.push_back(neighbour.at(cells));
  }
  return pair;
}

Real loss(const Neighbours& neighbours, const Quantiles& quantiles, double epsilon) {
  const LawPair pair = laws(neighbours, quantiles, epsilon);
  return exact_loss(pair.law, pair.neighbour);
}

constexpr Real kRounding = 1e-9L;

// --- The exact law -------------------------------------------------------------------------------

class ExactQuantilesLaw : public ::testing::TestWithParam<Neighbours> {};

TEST_P(ExactQuantilesLaw, KeepsEpsilon) {
  for (const double epsilon : kEpsilons) {
    for (const Quantiles& quantiles : kFewQuantiles) {
      EXPECT_LE(loss(GetParam(), quantiles, epsilon), epsilon + kRounding);
    }
  }
}

class ExactQuantilesLawOnAFewCells : public ExactQuantilesLaw {};

TEST_P(ExactQuantilesLawOnAFewCells, KeepsEpsilonForManyQuantiles) {
  for (const double epsilon : kEpsilons) {
    EXPECT_LE(loss(GetParam(), kOctiles, epsilon), epsilon + kRounding);
  }
}

INSTANTIATE_TEST_SUITE_P(AllPairs, ExactQuantilesLaw, ::testing::ValuesIn(all_pairs()), case_name);
INSTANTIATE_TEST_SUITE_P(FastPairs, ExactQuantilesLawOnAFewCells, ::testing::ValuesIn(kNeighbours),
                         case_name);

// All multisets of `records` cells on the value grid.
std::vector<Dataset> datasets_of_size(std::uint64_t cells, std::size_t records) {
  if (records == 0) return {{cells, {}}};
  std::vector<Dataset> larger;
  for (const Dataset& data : datasets_of_size(cells, records - 1)) {
    for (std::uint32_t cell = data.records.empty() ? 0 : data.records.back(); cell < cells;
         ++cell) {
      larger.push_back(data);
      larger.back().records.push_back(cell);
    }
  }
  return larger;
}

std::vector<Neighbours> all_neighbours(std::uint64_t cells, std::size_t most_records) {
  std::vector<Neighbours> all;
  for (std::size_t records = 0; records <= most_records; ++records) {
    for (const Dataset& data : datasets_of_size(cells, records)) {
      for (std::uint32_t added = 0; added < cells; ++added) all.push_back({"", data, added});
    }
  }
  return all;
}

TEST(ExactQuantilesLawOfAllSmallData, KeepsEpsilon) {
  for (const Neighbours& neighbours : all_neighbours(3, 3)) {
    for (const Quantiles& quantiles : kFewQuantiles) {
      for (const double epsilon : {1.0, 3.0}) {
        ASSERT_LE(loss(neighbours, quantiles, epsilon), epsilon + kRounding);
      }
    }
  }
}

// An interval of the axis and a quantile drawn in it.
struct DrawCase {
  Real begin;
  Real end;
  Real q;
};

std::vector<DrawCase> draw_cases() {
  std::vector<DrawCase> cases;
  for (const Real begin : {0.0L, 0.25L, 1.5L}) {
    for (const Real end : {2.0L, 2.75L, 4.0L}) {
      for (const Real q : {0.0L, 0.3L, 0.5L, 1.0L}) cases.push_back({begin, end, q});
    }
  }
  return cases;
}

// The part of the added record that lies in the interval.
Real part_inside(const Neighbours& neighbours, const DrawCase& draw) {
  const Real start = static_cast<Real>(neighbours.added);
  return std::max(Real{0}, std::min(draw.end, start + 1) - std::max(draw.begin, start));
}

// The difference between the largest and the smallest logarithm of the densities' ratio.
Real span_of_loss(const Neighbours& neighbours, const DrawCase& draw, Real epsilon) {
  const RealRank rank(neighbours.data);
  const RealRank neighbour_rank(neighbours.with_added());
  const QuantileDensity density(rank, draw.begin, draw.end, draw.q, epsilon);
  const QuantileDensity neighbour(neighbour_rank, draw.begin, draw.end, draw.q, epsilon);
  std::vector<Real> losses;
  for (Real p = draw.begin + 0.01L; p < draw.end; p += 0.0625L) {
    losses.push_back(std::log(density.density(p) / neighbour.density(p)));
  }
  const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
  return *most - *least;
}

// Composition over levels needs this property, which is stronger than epsilon.
TEST(ExactLawOfOneDraw, KeepsBoundedRangeInProportionToTheRecordsPart) {
  constexpr Real kEpsilon = 2;
  for (const Neighbours& neighbours : all_neighbours(4, 3)) {
    for (const DrawCase& draw : draw_cases()) {
      ASSERT_LE(span_of_loss(neighbours, draw, kEpsilon),
                part_inside(neighbours, draw) * kEpsilon + kRounding);
    }
  }
}

// The worst case comes close to epsilon: a smaller claim would be wrong, and a law with half the
// noise is refuted.
TEST(ExactQuantilesLawOfAWideGap, LosesAlmostAllOfEpsilon) {
  const Neighbours neighbours{"", {200, {0}}, 195};
  for (const double epsilon : kEpsilons) {
    EXPECT_LE(loss(neighbours, kMedian, epsilon), epsilon + kRounding);
    EXPECT_GT(loss(neighbours, kMedian, epsilon), 0.9L * epsilon);
    EXPECT_GT(loss(neighbours, kMedian, 2 * epsilon), 1.8L * epsilon);
  }
}

TEST(ExactLawOfSeveralQuantiles, IsRefutedWithHalfTheNoise) {
  const Neighbours neighbours{"", {12, {0, 0}}, 8};
  for (const double epsilon : kEpsilons) {
    EXPECT_LE(loss(neighbours, kQuartiles, epsilon), epsilon + kRounding);
    EXPECT_GT(loss(neighbours, kQuartiles, 2 * epsilon), 1.2L * epsilon);
  }
}

// --- Releases ------------------------------------------------------------------------------------

// Releases of the mechanism, as indices of the given outcomes.
Sample sample_of(const Dataset& data, const Quantiles& quantiles, double epsilon,
                 const std::vector<Cells>& outcomes, int draws) {
  std::map<Cells, std::size_t> index;
  for (std::size_t i = 0; i < outcomes.size(); ++i) index[outcomes[i]] = i;
  QuantilesSampler sampler(data, quantiles, epsilon);
  return take_sample(outcomes.size(), draws, [&] { return index.at(sampler.draw()); });
}

void expect_private(const Neighbours& neighbours, const Quantiles& quantiles, double epsilon) {
  constexpr int kDraws = 60'000;
  const LawPair pair = laws(neighbours, quantiles, epsilon);
  const Sample sample = sample_of(neighbours.data, quantiles, epsilon, pair.outcomes, kDraws);
  const Sample neighbour =
      sample_of(neighbours.with_added(), quantiles, epsilon, pair.outcomes, kDraws);
  EXPECT_GT(fit_p_value(sample, pair.law), kFalseAlarm);
  EXPECT_GT(fit_p_value(neighbour, pair.neighbour), kFalseAlarm);
  EXPECT_LE(certain_delta(sample, neighbour, epsilon, kFalseAlarm), 0);
}

class QuantilesReleases : public ::testing::TestWithParam<Neighbours> {};
class QuantilesReleasesOnAFewCells : public QuantilesReleases {};

TEST_P(QuantilesReleases, FollowTheLawAndKeepEpsilonForOneQuantile) {
  for (const double epsilon : kEpsilons) expect_private(GetParam(), kMedian, epsilon);
  expect_private(GetParam(), {0}, 1);
  expect_private(GetParam(), {1}, 1);
}

TEST_P(QuantilesReleases, FollowTheLawAndKeepEpsilonForTwoQuantiles) {
  for (const double epsilon : {0.5, 3.0}) expect_private(GetParam(), {0.25, 0.75}, epsilon);
}

TEST_P(QuantilesReleases, FollowTheLawAndKeepEpsilonForThreeQuantiles) {
  for (const double epsilon : kEpsilons) expect_private(GetParam(), kQuartiles, epsilon);
}

TEST_P(QuantilesReleasesOnAFewCells, FollowTheLawAndKeepEpsilonForSevenQuantiles) {
  for (const double epsilon : {0.5, 3.0}) expect_private(GetParam(), kOctiles, epsilon);
}

INSTANTIATE_TEST_SUITE_P(AllPairs, QuantilesReleases, ::testing::ValuesIn(all_pairs()), case_name);
INSTANTIATE_TEST_SUITE_P(FastPairs, QuantilesReleasesOnAFewCells, ::testing::ValuesIn(kNeighbours),
                         case_name);

// --- The power of the check ----------------------------------------------------------------------

// A worst case and the answers that the check sees. Fewer answers make a smaller space of outcomes.
struct WorstCase {
  std::string name;
  Neighbours neighbours;
  Quantiles quantiles;
  std::vector<std::size_t> watched;
  double epsilon;
  int draws;
};

Sample watched_sample(const WorstCase& worst, const Dataset& data, double spent) {
  QuantilesSampler sampler(data, worst.quantiles, spent);
  std::size_t outcomes = 1;
  for (std::size_t i = 0; i < worst.watched.size(); ++i) outcomes *= data.cells;
  return take_sample(outcomes, worst.draws, [&] {
    const Cells cells = sampler.draw();
    std::size_t outcome = 0;
    for (const std::size_t i : worst.watched) outcome = outcome * data.cells + cells[i];
    return outcome;
  });
}

// The bound on delta at the claimed epsilon, for releases that spend `spent`.
double delta_when_spending(const WorstCase& worst, double spent) {
  return certain_delta(watched_sample(worst, worst.neighbours.data, spent),
                       watched_sample(worst, worst.neighbours.with_added(), spent), worst.epsilon,
                       kFalseAlarm);
}

void PrintTo(const WorstCase& worst_case, std::ostream* out) {
  *out << worst_case.name;
}

class QuantilesPrivacyCheck : public ::testing::TestWithParam<WorstCase> {};

TEST_P(QuantilesPrivacyCheck, AcceptsTheMechanism) {
  EXPECT_LE(delta_when_spending(GetParam(), GetParam().epsilon), 0);
}

// A search found the cases. In each the bound lies more than 9 of its standard deviations above 0,
// so the probability of missing the violation is below 10^-15.
TEST_P(QuantilesPrivacyCheck, CatchesHalfTheNoise) {
  EXPECT_GT(delta_when_spending(GetParam(), 2 * GetParam().epsilon), 0);
}

const Neighbours kWideGap{"", {60, {0}}, 49};

INSTANTIATE_TEST_SUITE_P(
    WorstCases, QuantilesPrivacyCheck,
    ::testing::Values(
        WorstCase{"OneAtATenth", kWideGap, {0.5}, {0}, 0.1, 1'200'000},
        WorstCase{"OneAtAHalf", kWideGap, {0.5}, {0}, 0.5, 200'000},
        WorstCase{"OneAtOne", kWideGap, {0.5}, {0}, 1, 100'000},
        WorstCase{"OneAtThree", kWideGap, {0.5}, {0}, 3, 200'000},
        WorstCase{"TwoAtOne", {"", {12, {11, 11}}, 2}, {1.0 / 3, 2.0 / 3}, {0, 1}, 1, 800'000},
        WorstCase{"ThreeAtOne", {"", {12, {0, 0}}, 8}, {0.25, 0.5, 0.75}, {1, 0}, 1, 300'000},
        WorstCase{"SevenAtThree", {"", {12, {0, 2, 5}}, 10}, kOctiles, {3, 5, 6}, 3, 400'000}),
    case_name);

}  // namespace
}  // namespace dpquantile
