#include "core/quantiles/tree_quantiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "support/case_name.hpp"
#include "support/cdf_testing.hpp"
#include "support/context_testing.hpp"
#include "support/law_testing.hpp"
#include "support/parameter_error.hpp"
#include "support/random_testing.hpp"
#include "support/tree_quantiles_testing.hpp"

// Every statistical check has a false-alarm probability below 5 * 10^-10 (see law_testing.hpp),
// except the few that state theirs.
namespace dpquantile {
namespace {

using test::case_name;
using test::cdf_plan;
using test::CurveByTheBook;
using test::Dataset;
using test::expect_parameter_error;
using test::FailingSource;
using test::heap;
using test::histogram_of;
using test::kAllPrivacies;
using test::kLawFalseAlarm;
using test::law_p_value;
using test::Real;
using test::TestContext;
using test::TreeQuantilesLaw;
using test::TreeQuantilesSampler;

using Cells = std::vector<std::uint32_t>;
using Quantiles = std::vector<double>;

constexpr PrivacyMeasure kPure = PrivacyMeasure::kPure;
constexpr PrivacyMeasure kZcdp = PrivacyMeasure::kZcdp;
constexpr std::uint64_t kLargestGrid = std::uint64_t{1} << 32;

Quantiles uniform_quantiles(int m) {
  Quantiles quantiles;
  for (int i = 1; i <= m; ++i) quantiles.push_back(i / (m + 1.0));
  return quantiles;
}

// --- The law of the answers ----------------------------------------------------------------------

// Quantiles that no small curve has at a boundary, so that nothing depends on rounding.
const Quantiles kOddQuantiles = {0.3183098861837907, 0.7071067811865476};

struct AnswersCase {
  std::string name;
  CdfPlan plan;
  Dataset data;
  std::vector<std::int64_t> reach;  // less than 10^-5 lies beyond it
};

void PrintTo(const AnswersCase& answers_case, std::ostream* out) {
  *out << answers_case.name;
}

class TreeQuantilesAnswers : public ::testing::TestWithParam<AnswersCase> {};

TEST_P(TreeQuantilesAnswers, FollowTheExhaustiveLaw) {
  const auto& [name, plan, data, reach] = GetParam();
  const TreeQuantilesLaw exact(plan, data, data, kOddQuantiles, reach);
  std::map<Cells, std::size_t> index;
  std::vector<double> probabilities;
  for (const auto& [answers, probability] : exact.probabilities()) {
    index[answers] = probabilities.size();
    probabilities.push_back(static_cast<double>(probability));
  }
  const double left_out = 1 - std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  ASSERT_LT(left_out, 1e-5);
  probabilities.push_back(std::max(left_out, 1e-15));
  std::vector<std::uint64_t> observed(probabilities.size());
  TreeQuantilesSampler sampler(data, kOddQuantiles, plan);
  for (int i = 0; i < 100'000; ++i) {
    const auto found = index.find(sampler.draw());
    ++observed[found == index.end() ? probabilities.size() - 1 : found->second];
  }
  EXPECT_GT(law_p_value(observed, probabilities), kLawFalseAlarm);
}

const Dataset kFewRecords = {9, {0, 1, 1, 7}};

INSTANTIATE_TEST_SUITE_P(
    Plans, TreeQuantilesAnswers,
    ::testing::Values(
        AnswersCase{"OneLevel", cdf_plan(3, {3}, {2}), kFewRecords, {7}},
        AnswersCase{"TwoLevels", cdf_plan(3, {2, 2}, {2.3, 4.1}), kFewRecords, {6, 3}},
        AnswersCase{"NoRecords", cdf_plan(3, {2, 2}, {2.3, 4.1}), {9, {}}, {6, 3}},
        AnswersCase{"OneCellALeaf", cdf_plan(3, {3}, {2}), {3, {0, 0, 2, 2, 2}}, {7}},
        AnswersCase{"Gaussian", cdf_plan(3, {3}, {0.5}, kZcdp), kFewRecords, {6}},
        AnswersCase{
            "GaussianTwoLevels", cdf_plan(3, {2, 2}, {0.53, 1.7}, kZcdp), kFewRecords, {5, 3}},
        AnswersCase{"GaussianLeavesOfManyCells",
                    cdf_plan(3, {2, 2}, {0.53, 1.7}, kZcdp),
                    {99, {5, 50, 51, 51, 98}},
                    {5, 3}}),
    case_name);

TEST(ExhaustiveLaw, SumsToOneAndIsMonotone) {
  const CdfPlan plan = cdf_plan(3, {2, 2}, {2.3, 4.1});
  const TreeQuantilesLaw exact(plan, kFewRecords, kFewRecords, kOddQuantiles, {6, 3});
  Real sum = 0;
  for (const auto& [answers, probability] : exact.probabilities()) {
    sum += probability;
    EXPECT_TRUE(std::ranges::is_sorted(answers));
  }
  EXPECT_NEAR(static_cast<double>(sum), 1, 1e-5);
  EXPECT_GT(exact.probabilities().size(), 10U);
}

// --- Without noise -------------------------------------------------------------------------------

// At the largest budgets a node has noise with probability below 2 e^(-1000 / 28).
const std::vector<PrivacyParameter> kWithoutNoise = {pure(1000), zcdp(1000)};

TEST(TreeQuantilesWithoutNoise, AreInterpolatedLinearlyInEachLeaf) {
  const Dataset data = {10, {1, 1, 2, 3, 8, 8, 9, 9}};
  for (const PrivacyMeasure measure : {kPure, kZcdp}) {
    const CdfPlan plan = cdf_plan(3, {3}, {900}, measure);  // leaves of the cells 0-3, 4-6 and 7-9
    const auto answer = [&](double q) { return TreeQuantilesSampler(data, {q}, plan).draw()[0]; };
    EXPECT_EQ(answer(0.01), 0U);
    EXPECT_EQ(answer(0.13), 1U);
    EXPECT_EQ(answer(0.3), 2U);
    EXPECT_EQ(answer(0.49), 3U);
    EXPECT_EQ(answer(0.51), 7U);
    EXPECT_EQ(answer(0.7), 8U);
    EXPECT_EQ(answer(0.9), 9U);
  }
}

// The middles of four rows in a leaf of eight cells lie in its cells 1, 3, 5 and 7.
TEST(TreeQuantilesWithoutNoise, AreTheMiddlesOfTheOuterRowsForZeroAndOne) {
  for (const PrivacyMeasure measure : {kPure, kZcdp}) {
    const CdfPlan plan = cdf_plan(3, {3}, {900}, measure);
    const Dataset data = {24, {9, 9, 9, 9}};
    EXPECT_EQ(TreeQuantilesSampler(data, {0, -0.0, 0.1, 0.9, 1}, plan).draw(),
              (Cells{9, 9, 9, 15, 15}));
  }
}

TEST(TreeQuantilesWithoutNoise, AreTheCellsOfTheRecordsWhereEveryCellIsALeaf) {
  const Dataset data = {201, {7, 7, 7, 30, 150, 150, 150, 150, 200, 200}};
  for (const PrivacyParameter& privacy : kWithoutNoise) {
    EXPECT_EQ(
        TreeQuantilesSampler(data, {0, 0.05, 0.29, 0.35, 0.41, 0.79, 0.81, 1}, privacy).draw(),
        (Cells{7, 7, 7, 30, 150, 150, 200, 200}));
  }
}

TEST(TreeQuantilesWithoutNoise, AreSpreadEvenlyOverTheGridWithoutRecords) {
  for (const PrivacyParameter& privacy : kWithoutNoise) {
    EXPECT_EQ(TreeQuantilesSampler({1000, {}}, {0, 0.25, 0.5, 0.9999, 1}, privacy).draw(),
              (Cells{0, 250, 500, 999, 999}));
    EXPECT_EQ(TreeQuantilesSampler({kLargestGrid, {}}, {0, 0.5, 1}, privacy).draw(),
              (Cells{0, 0x80000000, 0xffffffff}));
  }
}

TEST(TreeQuantilesWithoutNoise, LieInTheLeavesOfTheirRecordsOnTheLargestGrid) {
  const Dataset data = {kLargestGrid, {0, 0, 0x12345678, 0xffffffff, 0xffffffff}};
  for (const PrivacyParameter& privacy : kWithoutNoise) {
    const std::uint64_t width = kLargestGrid / tree_quantiles_leaves(kLargestGrid, privacy.measure);
    const auto answers = TreeQuantilesSampler(data, {0.1, 0.5, 0.9}, privacy).draw();
    EXPECT_LT(answers[0], width);
    EXPECT_EQ(answers[1] / width, 0x12345678 / width);
    EXPECT_GE(answers[2], kLargestGrid - width);
  }
}

// The leaves do not divide the number of cells: no cell is lost or counted twice.
TEST(TreeQuantilesWithoutNoise, FindTheLeafOfEveryCellOfAnUnevenGrid) {
  for (const std::uint32_t cells : {3U, 10U, 17U, 100U}) {
    const CdfPlan plan = cdf_plan(3, {3}, {900});
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
      const std::uint32_t leaf = cell * 3 / cells;
      const auto answer = TreeQuantilesSampler({cells, {cell, cell}}, {0.5}, plan).draw()[0];
      ASSERT_EQ(answer * 3 / cells, leaf) << cells << " " << cell;
    }
  }
}

// --- With noise ----------------------------------------------------------------------------------

Dataset spread_records(std::uint64_t cells, std::size_t records) {
  Dataset data{cells, {}};
  for (std::size_t i = 0; i < records; ++i) {
    data.records.push_back(static_cast<std::uint32_t>(i * i * 7919 % cells));
  }
  return data;
}

TEST(TreeQuantiles, AreMonotoneInTheQuantileAndOnTheGrid) {
  const Quantiles quantiles = {0, 0.001, 0.25, 0.25, 0.5, 0.75, 0.999, 1};
  for (const PrivacyParameter& privacy : kAllPrivacies) {
    for (const std::uint64_t cells : {1ULL, 3ULL, 1000ULL, 30'001ULL}) {
      for (const std::size_t records : {0U, 300U}) {
        TreeQuantilesSampler sampler(spread_records(cells, records), quantiles, privacy);
        for (int i = 0; i < 3; ++i) {
          const Cells answers = sampler.draw();
          ASSERT_TRUE(std::ranges::is_sorted(answers));
          ASSERT_LT(answers.back(), cells);
          ASSERT_EQ(answers[2], answers[3]);
        }
      }
    }
  }
}

TEST(TreeQuantiles, ComeInTheOrderAskedFor) {
  for (const PrivacyParameter& privacy : {pure(0.5), zcdp(0.01)}) {
    TreeQuantilesSampler sampler(spread_records(1000, 300), {0.9, 0.1, 0.5, 0.1, 0.9}, privacy);
    for (int i = 0; i < 50; ++i) {
      const Cells answers = sampler.draw();
      ASSERT_GE(answers[0], answers[2]);
      ASSERT_GE(answers[2], answers[1]);
      ASSERT_EQ(answers[1], answers[3]);
      ASSERT_EQ(answers[0], answers[4]);
    }
  }
}

// The number of records between an answer and the record at rank q n, on average.
double mean_gap(const Dataset& data, const Quantiles& quantiles, const PrivacyParameter& privacy,
                int releases) {
  std::vector<std::uint32_t> sorted = data.records;
  std::ranges::sort(sorted);
  TreeQuantilesSampler sampler(data, quantiles, privacy);
  double sum = 0;
  for (int i = 0; i < releases; ++i) {
    const Cells answers = sampler.draw();
    for (std::size_t j = 0; j < quantiles.size(); ++j) {
      const double rank = quantiles[j] * static_cast<double>(sorted.size());
      const std::uint32_t truth = sorted[static_cast<std::size_t>(rank)];
      const auto [low, high] = std::minmax(truth, answers[j]);
      const auto first = std::ranges::upper_bound(sorted, low);
      sum += static_cast<double>(
          std::max<std::ptrdiff_t>(std::ranges::lower_bound(sorted, high) - first, 0));
    }
  }
  return sum / static_cast<double>(releases) / static_cast<double>(quantiles.size());
}

// A thousand records on a twentieth of a value grid of 2^24 cells, as in the published work. The
// means are 10.8 (pure) and 3.4. A release's gap has a standard deviation of 4.3 and 1.2, so the
// limits lie more than six standard errors above.
TEST(TreeQuantiles, AreWithinAFewOfAThousandRecords) {
  constexpr std::uint32_t kCells = 1 << 24;
  Dataset data{kCells, {}};
  std::uint64_t scattered = 1;
  for (int i = 0; i < 1000; ++i) {
    scattered = scattered * 6364136223846793005 + 1442695040888963407;
    data.records.push_back(
        static_cast<std::uint32_t>(kCells / 2 + (scattered >> 44) % (kCells / 20)));
  }
  EXPECT_LT(mean_gap(data, uniform_quantiles(120), pure(1), 120), 14);
  EXPECT_LT(mean_gap(data, uniform_quantiles(120), zcdp(0.5), 30), 5);
}

// --- Plan and cost -------------------------------------------------------------------------------

TEST(TreeQuantilesLeaves, AreTheCellsUpToTheLimitOfTheMeasure) {
  for (const std::uint64_t cells : {1ULL, 2ULL, 201ULL, 16384ULL}) {
    EXPECT_EQ(tree_quantiles_leaves(cells, kPure), cells);
    EXPECT_EQ(tree_quantiles_leaves(cells, kZcdp), cells);
  }
  EXPECT_EQ(tree_quantiles_leaves(16385, kPure), 16384U);
  EXPECT_EQ(tree_quantiles_leaves(16385, kZcdp), 16385U);
  EXPECT_EQ(tree_quantiles_leaves(65537, kZcdp), 65536U);
  EXPECT_EQ(tree_quantiles_leaves(kLargestGrid, kPure), 16384U);
  EXPECT_EQ(tree_quantiles_leaves(kLargestGrid, kZcdp), 65536U);
}

TEST(TreeQuantilesPlan, IsTheCdfPlanOfTheLeaves) {
  EXPECT_EQ(tree_quantiles_plan(1000, pure(0.3)),
            choose_cdf_plan(CdfMethod::kTree, 1000, pure(0.3)));
  EXPECT_EQ(tree_quantiles_plan(kLargestGrid, zcdp(0.3)),
            choose_cdf_plan(CdfMethod::kTree, 65536, zcdp(0.3)));
}

TEST(TreeQuantilesRho, IsTheGuaranteeUnderZcdpAndBelowThatOfPureNoise) {
  EXPECT_EQ(rho_of_cdf(tree_quantiles_plan(1000, zcdp(0.3))), 0.3);
  EXPECT_LT(rho_of_cdf(tree_quantiles_plan(1000, pure(0.3))), 0.3 * 0.3 / 2 / 2);
}

// --- Failure -------------------------------------------------------------------------------------

class TreeQuantilesRelease : public ::testing::Test {
 protected:
  std::size_t release_from(RandomSource& source, CancelPoll::Predicate cancel_requested,
                           std::pmr::memory_resource* memory) const {
    return tree_quantiles(histogram_, kCells, Quantiles{0.25, 0.75},
                          tree_quantiles_plan(kCells, zcdp(1)),
                          TestContext(source, cancel_requested, memory))
        .size();
  }

  static constexpr std::uint64_t kCells = 1'000'000;
  Histogram histogram_ = histogram_of({kCells, {1, 5, 5}});
  CsprngSource good_source_;
};

TEST_F(TreeQuantilesRelease, ThrowsWhenTheRandomSourceFails) {
  FailingSource source;
  EXPECT_THROW(release_from(source, nullptr, heap()), RandomnessUnavailable);
}

TEST_F(TreeQuantilesRelease, StopsWhenCancelled) {
  const auto requested = [] { return true; };
  const auto not_requested = [] { return false; };
  EXPECT_THROW(release_from(good_source_, requested, heap()), Cancelled);
  EXPECT_EQ(release_from(good_source_, not_requested, heap()), 2U);
}

TEST_F(TreeQuantilesRelease, ThrowsWhenMemoryRunsOut) {
  EXPECT_THROW(release_from(good_source_, nullptr, std::pmr::null_memory_resource()),
               std::bad_alloc);
}

TEST(TreeQuantilesParameters, AreCheckedLikeThoseOfTheOtherMethods) {
  EXPECT_THROW(tree_quantiles_plan(10, pure(1e-7)), ParameterError);
  EXPECT_THROW(tree_quantiles_plan(10, pure(1001)), ParameterError);
  EXPECT_THROW(tree_quantiles_plan(10, zcdp(1e-13)), ParameterError);
  EXPECT_THROW(tree_quantiles_plan(10, zcdp(1001)), ParameterError);
  const auto draw = [] { TreeQuantilesSampler({10, {1}}, {0.5, 1.5}, pure(1)).draw(); };
  expect_parameter_error("a quantile must be between 0 and 1, got 1.5",
                         "The median is 0.5, the 95th percentile 0.95.", draw);
  EXPECT_THROW(TreeQuantilesSampler({10, {1}}, {}, pure(1)).draw(), ParameterError);
}

}  // namespace
}  // namespace dpquantile
