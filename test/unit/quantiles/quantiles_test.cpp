#include "core/quantiles/quantiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory_resource>
#include <new>
#include <numeric>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/random.hpp"
#include "core/quantiles/recursion_plan.hpp"
#include "support/case_name.hpp"
#include "support/context_testing.hpp"
#include "support/dataset.hpp"
#include "support/equally_spaced.hpp"
#include "support/law_testing.hpp"
#include "support/memory_testing.hpp"
#include "support/parameter_error.hpp"
#include "support/quantiles_law.hpp"
#include "support/quantiles_sampler.hpp"
#include "support/random_testing.hpp"

// Every statistical check has a false-alarm probability below 5 * 10^-10 (see law_testing.hpp).
namespace dpquantile {
namespace {

using test::case_name;
using test::Cells;
using test::CountedMemory;
using test::Dataset;
using test::equally_spaced;
using test::expect_parameter_error;
using test::FailingSource;
using test::histogram_of;
using test::kLawFalseAlarm;
using test::Law;
using test::law_p_value;
using test::p_value;
using test::quantiles_law;
using test::QuantilesSampler;
using test::TestContext;

using Quantiles = std::vector<double>;

constexpr std::uint64_t kMostCells = std::uint64_t{1} << 32;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Cells release(const Dataset& data, const Quantiles& quantiles, double epsilon) {
  return QuantilesSampler(data, quantiles, epsilon).draw();
}

// --- The joint law -------------------------------------------------------------------------------

struct JointCase {
  std::string name;
  Dataset data;
  Quantiles quantiles;
  double epsilon;
  int draws = 1'000'000;
};

void PrintTo(const JointCase& joint_case, std::ostream* out) {
  *out << joint_case.name;
}

class JointLaw : public ::testing::TestWithParam<JointCase> {};

TEST_P(JointLaw, EqualsTheExhaustiveIntegralOverAllCuts) {
  const auto& [name, data, quantiles, epsilon, draws] = GetParam();
  QuantilesSampler sampler(data, quantiles, epsilon);
  const Law law = quantiles_law(data, quantiles, epsilon);
  const auto draw = [&] { return sampler.draw(); };
  EXPECT_GT(p_value(law, draws, draw, law_p_value), kLawFalseAlarm);
}

INSTANTIATE_TEST_SUITE_P(
    OneQuantile, JointLaw,
    ::testing::Values(JointCase{"MedianOfTies", {5, {1, 1, 3}}, {0.5}, 2},
                      JointCase{"MinimumAtAnExtreme", {4, {3, 3}}, {0}, 3, 300'000},
                      JointCase{"MaximumAtAnExtreme", {4, {0, 0}}, {1}, 3, 300'000}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    TwoQuantiles, JointLaw,
    ::testing::Values(JointCase{"Quartiles", {5, {1, 2, 2, 4}}, {0.25, 0.75}, 3},
                      JointCase{"CutInAHeavyCell", {3, {1, 1, 1, 1, 1, 1}}, {0.3, 0.6}, 4, 500'000},
                      JointCase{"MinimumAndMaximum", {4, {0, 2, 3}}, {0, 1}, 4, 500'000},
                      JointCase{"NoRecords", {4, {}}, {0.25, 0.75}, 2, 500'000}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    ThreeQuantiles, JointLaw,
    ::testing::Values(JointCase{"Quartiles", {4, {0, 1, 3, 3}}, {0.25, 0.5, 0.75}, 4},
                      JointCase{"Uneven", {3, {1, 1, 1, 2, 2}}, {0.1, 0.2, 0.9}, 6, 500'000},
                      JointCase{"CutInAHeavyCell", {3, {1, 1, 1}}, {0.25, 0.5, 0.75}, 6, 500'000}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    MoreQuantiles, JointLaw,
    ::testing::Values(JointCase{"Four", {3, {0, 1, 1}}, {0.2, 0.4, 0.6, 0.8}, 6, 300'000},
                      JointCase{"Seven", {2, {0, 1, 1, 1}}, equally_spaced(7), 10, 300'000}),
    case_name);

TEST(ReferenceLaw, SumsToOneAndIsMonotone) {
  const Law law = quantiles_law({3, {0, 1, 1}}, equally_spaced(7), 6);
  test::Real sum = 0;
  for (const auto& [cells, probability] : law) {
    EXPECT_TRUE(std::is_sorted(cells.begin(), cells.end()));
    sum += probability;
  }
  EXPECT_EQ(law.size(), 36U);
  EXPECT_NEAR(static_cast<double>(sum), 1, 1e-12);
}

// --- The budget of a level -----------------------------------------------------------------------

std::size_t recursion_depth(std::size_t distinct_quantiles) {
  return approximate_plan(distinct_quantiles, pure(1)).size();
}

TEST(RecursionDepth, IsTheFloorOfTheBinaryLogarithmPlusOne) {
  const std::map<std::size_t, std::size_t> expected = {
      {1, 1}, {2, 2}, {3, 2}, {4, 3}, {7, 3}, {8, 4}, {15, 4}, {120, 7}, {4095, 12}, {4096, 13}};
  for (const auto& [m, depth] : expected) EXPECT_EQ(recursion_depth(m), depth) << m;
}

// How many draws are nested when the middle one splits m - 1 others as evenly as possible.
std::size_t nested_draws(std::size_t m) {
  return m == 0 ? 0 : 1 + nested_draws(m / 2);
}

TEST(RecursionDepth, CoversEveryDrawOfTheRecursion) {
  for (std::size_t m = 1; m <= kMaxQuantiles; ++m) ASSERT_EQ(recursion_depth(m), nested_draws(m));
}

// --- Order and repetition ------------------------------------------------------------------------

TEST(DrawQuantiles, AnswersInTheOrderAskedFor) {
  const Dataset data{4, {0, 1, 3, 3}};
  QuantilesSampler sampler(data, {0.75, 0.25, 0.5}, 4);
  const auto draw = [&] {
    const Cells asked = sampler.draw();
    return Cells{asked[1], asked[2], asked[0]};
  };
  const Law law = quantiles_law(data, Quantiles{0.25, 0.5, 0.75}, 4);
  EXPECT_GT(p_value(law, 300'000, draw, law_p_value), kLawFalseAlarm);
}

TEST(DrawQuantiles, DrawsAndPaysRepeatedQuantilesOnce) {
  const Dataset data{4, {0, 1, 3, 3}};
  QuantilesSampler sampler(data, {0.5, 0.2, 0.5, 0.8, 0.2, 0.2, 0.8, 0.5}, 4);
  const auto draw = [&] {
    const Cells c = sampler.draw();
    const bool consistent =
        c[0] == c[2] && c[0] == c[7] && c[1] == c[4] && c[1] == c[5] && c[3] == c[6];
    return consistent ? Cells{c[1], c[0], c[3]} : Cells{};
  };
  const Law law = quantiles_law(data, Quantiles{0.2, 0.5, 0.8}, 4);
  EXPECT_GT(p_value(law, 300'000, draw, law_p_value), kLawFalseAlarm);
}

TEST(DrawQuantiles, SpendsTheWholeEpsilonOnOneRepeatedQuantile) {
  const Dataset data{4, {0, 1, 3, 3}};
  QuantilesSampler sampler(data, Quantiles(9, 0.5), 4);
  const auto draw = [&] { return Cells{sampler.draw().front()}; };
  const Law law = quantiles_law(data, Quantiles{0.5}, 4);
  EXPECT_GT(p_value(law, 300'000, draw, law_p_value), kLawFalseAlarm);
}

TEST(DrawQuantiles, TakesZerosOfBothSignsAsOneQuantile) {
  const Cells cells = release({100, {3, 50}}, {0.0, -0.0, 0.0}, 1);
  EXPECT_EQ(std::set<std::uint32_t>(cells.begin(), cells.end()).size(), 1U);
}

TEST(DrawQuantiles, IsMonotoneAndOnTheGrid) {
  const std::vector<Dataset> datasets = {
      {1, {}}, {2, {0, 1}}, {7, {3, 3, 3}}, {1000, {0, 10, 999}}, {kMostCells, {5, 0xffffffff}}};
  for (const Dataset& data : datasets) {
    for (const std::size_t m : {2U, 5U, 64U}) {
      Quantiles quantiles = equally_spaced(m);
      quantiles.insert(quantiles.begin(), 0);
      quantiles.push_back(1);
      for (int i = 0; i < 100; ++i) {
        const Cells cells = release(data, quantiles, 1);
        ASSERT_TRUE(std::is_sorted(cells.begin(), cells.end()));
        ASSERT_LT(cells.back(), data.cells);
      }
    }
  }
}

// --- Ends of the ranges --------------------------------------------------------------------------

TEST(DrawQuantiles, IsUniformWithoutRecords) {
  const std::vector<double> uniform(16, 1.0 / 16);
  QuantilesSampler sampler({16, {}}, {0.9}, 3);
  std::vector<std::uint64_t> observed(16);
  for (int i = 0; i < 1'000'000; ++i) ++observed[sampler.draw().front()];
  EXPECT_GT(law_p_value(observed, uniform), kLawFalseAlarm);
}

TEST(DrawQuantiles, AnswersTheOnlyCellOfAGrid) {
  EXPECT_EQ(release({1, {}}, {0, 0.5, 1}, 1), (Cells{0, 0, 0}));
  EXPECT_EQ(release({1, {0, 0, 0}}, {1, 0.5}, 1), (Cells{0, 0}));
}

TEST(DrawQuantiles, IsUniformOnTheLargestGridWithoutRecords) {
  const std::vector<double> uniform(64, 1.0 / 64);
  QuantilesSampler sampler({kMostCells, {}}, {0.5}, 1);
  std::vector<std::uint64_t> observed(64);
  for (int i = 0; i < 200'000; ++i) ++observed[sampler.draw().front() >> 26];
  EXPECT_GT(law_p_value(observed, uniform), kLawFalseAlarm);
}

// A wrong cell lies a whole record from the target. Its probability is below 2^32 e^(-lambda / 2),
// with lambda >= 250 for one of two levels: below 10^-40.
TEST(DrawQuantiles, FindsTheOccupiedCellsOfTheLargestGrid) {
  const Dataset data{kMostCells, {0, 0, 1U << 31, 1U << 31, 0xffffffff, 0xffffffff}};
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(release(data, {1.0 / 6, 0.5, 5.0 / 6}, 1000), (Cells{0, 1U << 31, 0xffffffff}));
  }
}

// A draw misses its rank by more than 200 with probability below 10^6 e^(-200 lambda), where lambda
// is at least 1/2: below 10^-37. The misses of three levels add up.
TEST(DrawQuantiles, IsCloseToTheTrueQuantilesOfAMillionRecords) {
  Dataset data{1'000'000, std::vector<std::uint32_t>(1'000'000)};
  std::iota(data.records.begin(), data.records.end(), 0U);
  std::reverse(data.records.begin(), data.records.end());
  const Quantiles quantiles = {0, 0.25, 0.5, 0.75, 1};
  const Cells cells = release(data, quantiles, 3);
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    EXPECT_NEAR(cells[i], quantiles[i] * 1'000'000, 600) << quantiles[i];
  }
}

// A quantile between the ranks of the ties leaves their cell with probability below 10^6 e^-1000.
TEST(DrawQuantiles, FindsTheCellOfAMillionTies) {
  Dataset data{1'000'000, std::vector<std::uint32_t>(1'000'000, 123'456)};
  EXPECT_EQ(release(data, equally_spaced(9), 1), Cells(9, 123'456));
}

// A draw misses its rank by more than 1.5 with probability below 10^6 e^(-1.5 lambda), and lambda
// is at least 38: one of the 4096 draws does with probability 10^-15. The misses of 13 levels add
// up.
TEST(DrawQuantiles, AnswersTheMostQuantiles) {
  Dataset data{1'000'000, std::vector<std::uint32_t>(1'000'000)};
  std::iota(data.records.begin(), data.records.end(), 0U);
  const Quantiles quantiles = equally_spaced(kMaxQuantiles);
  const Cells cells = release(data, quantiles, 1000);
  ASSERT_EQ(cells.size(), kMaxQuantiles);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    ASSERT_NEAR(cells[i], quantiles[i] * 1'000'000, 20) << i;
  }
}

TEST(DrawQuantiles, AnswersTheMostQuantilesWithoutRecords) {
  const Cells cells = release({kMostCells, {}}, equally_spaced(kMaxQuantiles), 1);
  EXPECT_EQ(cells.size(), kMaxQuantiles);
  EXPECT_TRUE(std::is_sorted(cells.begin(), cells.end()));
}

// --- Failure -------------------------------------------------------------------------------------

class QuantilesRelease : public ::testing::Test {
 protected:
  Cells release_from(RandomSource& source, CancelPoll::Predicate cancel_requested,
                     std::pmr::memory_resource* memory) const {
    const Quantiles quartiles = {0.25, 0.75};
    const auto cells =
        draw_quantiles(histogram_, {QuantilesMethod::kApproximate, pure(1), 10, quartiles},
                       TestContext(source, cancel_requested, memory));
    return {cells.begin(), cells.end()};
  }

  Histogram histogram_ = histogram_of({10, {1, 5, 5}});
  CsprngSource good_source_;
};

TEST_F(QuantilesRelease, ThrowsWhenTheRandomSourceFails) {
  FailingSource source;
  EXPECT_THROW(release_from(source, nullptr, std::pmr::new_delete_resource()),
               RandomnessUnavailable);
}

TEST_F(QuantilesRelease, StopsWhenCancelled) {
  const auto requested = [] { return true; };
  const auto not_requested = [] { return false; };
  std::pmr::memory_resource* const memory = std::pmr::new_delete_resource();
  EXPECT_THROW(release_from(good_source_, requested, memory), Cancelled);
  EXPECT_EQ(release_from(good_source_, not_requested, memory).size(), 2U);
}

TEST_F(QuantilesRelease, ThrowsWhenMemoryRunsOut) {
  EXPECT_THROW(release_from(good_source_, nullptr, std::pmr::null_memory_resource()),
               std::bad_alloc);
}

// --- Parameters ----------------------------------------------------------------------------------

TEST(CheckEpsilon, AcceptsAMillionthToAThousand) {
  for (const double epsilon : {1e-6, 0.1, 1.0, 1000.0}) {
    EXPECT_NO_THROW(check_epsilon(epsilon)) << epsilon;
    EXPECT_NO_THROW(release({4, {1}}, {0.5}, epsilon)) << epsilon;
  }
  const auto expect_refused = [](double epsilon, const std::string& printed) {
    const std::string message = "epsilon must be between 1e-06 and 1000, got " + printed;
    const std::string hint = "Typical values lie between 0.01 and 3; smaller is more private.";
    expect_parameter_error(message, hint, [&] { check_epsilon(epsilon); });
    expect_parameter_error(message, hint, [&] { release({4, {1}}, {0.5}, epsilon); });
  };
  expect_refused(0, "0");
  expect_refused(-1, "-1");
  expect_refused(9.9e-7, "9.9e-07");
  expect_refused(1000.5, "1000.5");
  expect_refused(kInfinity, "Infinity");
  expect_refused(-kInfinity, "-Infinity");
  expect_refused(kNaN, "NaN");
}

TEST(CheckQuantiles, AcceptsZeroToOneInclusive) {
  EXPECT_NO_THROW(check_quantiles(Quantiles{0, -0.0, 0.5, 1}));
  const auto expect_refused = [](double quantile, const std::string& printed) {
    const std::string message = "a quantile must be between 0 and 1, got " + printed;
    const std::string hint = "The median is 0.5, the 95th percentile 0.95.";
    const Quantiles quantiles = {0.5, quantile};
    expect_parameter_error(message, hint, [&] { check_quantiles(quantiles); });
    expect_parameter_error(message, hint, [&] { release({4, {1}}, quantiles, 1); });
  };
  expect_refused(-0.1, "-0.1");
  expect_refused(1.5, "1.5");
  expect_refused(95, "95");
  expect_refused(kInfinity, "Infinity");
  expect_refused(kNaN, "NaN");
}

TEST(CheckQuantiles, AcceptsOneTo4096Quantiles) {
  EXPECT_NO_THROW(check_quantiles(Quantiles(1, 0.5)));
  EXPECT_NO_THROW(check_quantiles(Quantiles(4096, 0.5)));
  const auto expect_refused = [](std::size_t number, const std::string& printed) {
    const std::string message = "quantiles must have 1 to 4096 elements, got " + printed;
    const std::string hint = "Ask for 1 to 4096 quantiles, for example ARRAY[0.25, 0.5, 0.75].";
    const Quantiles quantiles(number, 0.5);
    expect_parameter_error(message, hint, [&] { check_quantiles(quantiles); });
    expect_parameter_error(message, hint, [&] { release({4, {1}}, quantiles, 1); });
  };
  expect_refused(0, "0");
  expect_refused(4097, "4097");
}

// --- Memory --------------------------------------------------------------------------------------

TEST(QuantilesMechanism, KeepsItsQuantilesInTheGivenMemory) {
  const Quantiles quantiles = equally_spaced(kMaxQuantiles);
  CountedMemory given;
  CountedMemory by_default;
  std::pmr::memory_resource* const before = std::pmr::set_default_resource(&by_default);
  {
    const QuantilesMechanism mechanism({QuantilesMethod::kApproximate, pure(1), 1000, quantiles},
                                       &given);
    EXPECT_EQ(by_default.used(), 0U);
    EXPECT_GE(given.used(), 2 * kMaxQuantiles * sizeof(double));
  }
  std::pmr::set_default_resource(before);
  EXPECT_EQ(given.used(), 0U);
}

}  // namespace
}  // namespace dpquantile
