#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "support/case_name.hpp"
#include "support/cdf_testing.hpp"
#include "support/claim.hpp"
#include "support/privacy_loss.hpp"
#include "support/tree_quantiles_testing.hpp"

// Tries to refute that tree_quantiles is epsilon-differentially private, or rho-zCDP, for adding or
// removing one record, by the exact law of small cases and by releases alone.
namespace dpquantile {
namespace {

using test::case_name;
using test::cdf_plan;
using test::certain_delta;
using test::Claim;
using test::claim_of;
using test::Dataset;
using test::exact_loss;
using test::kFalseAlarm;
using test::Real;
using test::Sample;
using test::take_sample;
using test::TreeQuantilesLaw;
using test::TreeQuantilesSampler;

using Quantiles = std::vector<double>;

constexpr PrivacyMeasure kZcdp = PrivacyMeasure::kZcdp;
constexpr Real kRounding = 1e-9L;

Dataset with_added(Dataset data, std::uint32_t cell) {
  data.records.push_back(cell);
  return data;
}

// --- The exact law -------------------------------------------------------------------------------

struct LawPair {
  std::vector<long double> law;
  std::vector<long double> neighbour;
};

// The probabilities of "these answers, and all measurements lie within `reach` of the smaller
// dataset's counts" for both datasets, which have the same possible answers.
LawPair laws(const CdfPlan& plan, const Dataset& data, std::uint32_t added,
             const std::vector<std::int64_t>& reach) {
  const Quantiles quantiles = {0.05, 0.27, 0.52, 0.76, 0.98};
  const TreeQuantilesLaw of_data(plan, data, data, quantiles, reach);
  const TreeQuantilesLaw of_neighbour(plan, with_added(data, added), data, quantiles, reach);
  LawPair pair;
  for (const auto& [answers, probability] : of_data.probabilities()) {
    pair.law.push_back(probability);
    pair.neighbour.push_back(of_neighbour.probabilities().at(answers));
  }
  return pair;
}

const std::vector<Dataset> kSmallData = {
    {6, {}}, {6, {0}}, {6, {0, 3, 5}}, {6, {2, 2, 2, 2}}, {6, {1, 4, 4, 5, 5, 5}}};

TEST(ExactTreeQuantilesLaw, KeepsEpsilon) {
  for (const Dataset& data : kSmallData) {
    for (const std::uint32_t added : {0U, 3U, 5U}) {
      for (const double epsilon : {0.5, 2.0}) {
        const LawPair histogram = laws(cdf_plan(3, {3}, {epsilon}), data, added, {5});
        EXPECT_LE(exact_loss(histogram.law, histogram.neighbour), epsilon + kRounding);
        const LawPair tree =
            laws(cdf_plan(3, {2, 2}, {0.4 * epsilon, 0.6 * epsilon}), data, added, {2, 2});
        EXPECT_LE(exact_loss(tree.law, tree.neighbour), epsilon + kRounding);
      }
    }
  }
}

// The moments leave out the outcomes beyond the reach. They are sums of positive terms, so this can
// only make them smaller.
Real largest_zcdp_loss(const LawPair& pair) {
  Real largest = 0;
  for (const Real order : {1.01L, 1.5L, 2.0L, 4.0L, 16.0L}) {
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

TEST(ExactTreeQuantilesLaw, KeepsRho) {
  for (const Dataset& data : kSmallData) {
    for (const std::uint32_t added : {0U, 3U, 5U}) {
      const LawPair histogram = laws(cdf_plan(3, {3}, {0.5}, kZcdp), data, added, {6});
      EXPECT_LE(largest_zcdp_loss(histogram), 0.5L + kRounding);
      const LawPair tree = laws(cdf_plan(3, {2, 2}, {0.8, 1.2}, kZcdp), data, added, {3, 3});
      EXPECT_LE(largest_zcdp_loss(tree), 2 + kRounding);
    }
  }
}

// --- Releases ------------------------------------------------------------------------------------

// The check asks for 63 quantiles, which tell nearly as much as the counts.
struct WatchedAnswers {
  std::string name;
  Dataset data;
  std::uint32_t added;
  PrivacyParameter privacy;
};

void PrintTo(const WatchedAnswers& watched, std::ostream* out) {
  *out << watched.name;
}

// An outcome is the number of the 63 answers that are cells below the middle of the value grid.
Sample sample_of(const Dataset& data, const PrivacyParameter& spent) {
  constexpr int kDraws = 40'000;
  Quantiles quantiles;
  for (int i = 1; i < 64; ++i) quantiles.push_back(i / 64.0);
  TreeQuantilesSampler sampler(data, quantiles, spent);
  return take_sample(quantiles.size() + 1, kDraws, [&] {
    const auto answers = sampler.draw();
    return std::ranges::count_if(
        answers, [&](std::uint32_t cell) { return std::uint64_t{2} * cell < data.cells; });
  });
}

// By how much the bound on delta exceeds the claim, for releases that spend `spent`.
double excess_when_spending(const WatchedAnswers& watched, const PrivacyParameter& spent) {
  const Claim claim = claim_of(watched.privacy);
  const Dataset neighbour = with_added(watched.data, watched.added);
  return certain_delta(sample_of(watched.data, spent), sample_of(neighbour, spent), claim.epsilon,
                       kFalseAlarm) -
         claim.delta;
}

class TreeQuantilesPrivacyCheck : public ::testing::TestWithParam<WatchedAnswers> {};

TEST_P(TreeQuantilesPrivacyCheck, AcceptsTheMechanism) {
  EXPECT_LE(excess_when_spending(GetParam(), GetParam().privacy), 0);
}

class TreeQuantilesPrivacyCheckOfWorstCases : public TreeQuantilesPrivacyCheck {};

// In each case the bound lies above 0.03, more than 15 of its standard deviations.
TEST_P(TreeQuantilesPrivacyCheckOfWorstCases, CatchesHalfTheNoise) {
  const auto [measure, value] = GetParam().privacy;
  const double factor = measure == PrivacyMeasure::kPure ? 2 : 4;
  EXPECT_GT(excess_when_spending(GetParam(), {measure, factor * value}), 0);
}

// All records are on the last cell, so the lower half of the value grid is empty.
Dataset upper_half(std::uint64_t cells, std::size_t records) {
  return {cells, std::vector<std::uint32_t>(records, static_cast<std::uint32_t>(cells - 1))};
}

const std::vector<WatchedAnswers> kWorstCases = {
    {"TwoCells", upper_half(2, 30), 0, pure(1)},
    {"TwoCellsAtTwo", upper_half(2, 30), 0, pure(2)},
    {"GaussianTwoCells", upper_half(2, 30), 0, zcdp(0.5)},
};

const std::vector<WatchedAnswers> kOtherData = {
    {"ManyCells", upper_half(12, 30), 0, pure(1)},
    {"NoRecords", {10, {}}, 4, pure(1)},
    {"TheMiddle", {10, {2, 2, 4, 4, 4, 5, 7, 7}}, 4, pure(1)},
    {"GaussianManyCells", upper_half(12, 30), 0, zcdp(0.5)},
    {"GaussianNoRecords", {10, {}}, 4, zcdp(0.5)},
    {"GaussianTheMiddle", {10, {2, 2, 4, 4, 4, 5, 7, 7}}, 4, zcdp(0.5)},
};

INSTANTIATE_TEST_SUITE_P(WorstCases, TreeQuantilesPrivacyCheck, ::testing::ValuesIn(kWorstCases),
                         case_name);
INSTANTIATE_TEST_SUITE_P(OtherData, TreeQuantilesPrivacyCheck, ::testing::ValuesIn(kOtherData),
                         case_name);
INSTANTIATE_TEST_SUITE_P(All, TreeQuantilesPrivacyCheckOfWorstCases,
                         ::testing::ValuesIn(kWorstCases), case_name);

}  // namespace
}  // namespace dpquantile
