#include "core/exponential/exponential_mechanism.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <numeric>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "core/exponential/rank.hpp"
#include "core/histogram/histogram.hpp"
#include "support/case_name.hpp"
#include "support/context_testing.hpp"
#include "support/dataset.hpp"
#include "support/law_testing.hpp"
#include "support/quantile_density.hpp"
#include "support/quantiles_sampler.hpp"
#include "support/random_testing.hpp"

// Every statistical check has a false-alarm probability below 5 * 10^-10 (see law_testing.hpp).
namespace dpquantile {
namespace {

using test::case_name;
using test::Dataset;
using test::FailingSource;
using test::histogram_of;
using test::kLawFalseAlarm;
using test::law_p_value;
using test::QuantileDensity;
using test::Real;
using test::RealRank;
using test::TestContext;

constexpr int kDraws = 1'000'000;
constexpr std::uint64_t kMostCells = std::uint64_t{1} << 32;

// Draws positions for one dataset, interval and quantile.
class PositionSampler {
 public:
  PositionSampler(const Dataset& data, PositionInterval interval, double q, double epsilon)
      : histogram_(histogram_of(data)), interval_(interval), q_(q), epsilon_(epsilon) {}

  Position draw() {
    std::array<std::byte, 4096> buffer;
    std::pmr::monotonic_buffer_resource memory(buffer.data(), buffer.size());
    return draw_quantile_position(rank_, interval_, q_, epsilon_, context_.with(&memory));
  }

 private:
  Histogram histogram_;
  SmearedRank rank_{histogram_};
  PositionInterval interval_;
  double q_;
  double epsilon_;
  TestContext context_;
};

Dataset records_on_cell(std::size_t count, std::uint32_t cell, std::uint64_t cells) {
  return {cells, std::vector<std::uint32_t>(count, cell)};
}

// --- The reference itself ------------------------------------------------------------------------

// The probability of [from, to] by the midpoint rule, straight from the definition.
Real riemann_probability(const Dataset& data, Real begin, Real end, Real q, Real epsilon, Real from,
                         Real to) {
  const auto rank = [&](Real p) {
    Real mass = 0;
    for (const std::uint32_t cell : data.records) {
      mass += std::clamp(p - static_cast<Real>(cell), Real{0}, Real{1});
    }
    return mass;
  };
  const Real target = rank(begin) + q * (rank(end) - rank(begin));
  const Real lambda = epsilon / (2 * std::max(q, 1 - q));
  constexpr int kSteps = 20'000;
  Real part = 0;
  Real whole = 0;
  for (int i = 0; i < kSteps; ++i) {
    const Real p = begin + (end - begin) * (static_cast<Real>(i) + 0.5L) / kSteps;
    const Real weight = std::exp(-lambda * std::fabs(rank(p) - target));
    whole += weight;
    if (from <= p && p < to) part += weight;
  }
  return part / whole;
}

TEST(ReferenceDensity, IsTheIntegralOfItsDefinition) {
  const Dataset data{6, {1, 1, 3, 4}};
  for (const Real q : {0.0L, 0.3L, 0.5L, 1.0L}) {
    const RealRank rank(data);
    const QuantileDensity density(rank, 0.5L, 5.5L, q, 3);
    for (const Real from : {0.5L, 1.25L, 2.5L, 4.75L}) {
      const Real expected = riemann_probability(data, 0.5L, 5.5L, q, 3, from, from + 0.75L);
      EXPECT_NEAR(static_cast<double>(density.probability(from, from + 0.75L) - expected), 0, 1e-7);
    }
  }
}

TEST(ReferenceDensity, FindsItsOwnQuantiles) {
  const RealRank rank(Dataset{6, {1, 1, 3, 4}});
  const QuantileDensity density(rank, 0.5L, 5.5L, 0.3L, 3);
  for (const Real u : {0.0L, 0.01L, 0.3L, 0.5L, 0.99L, 1.0L}) {
    const Real before = density.probability(0.5L, density.position_after(u));
    EXPECT_NEAR(static_cast<double>(before - u), 0, 1e-15);
  }
}

// --- The law on the real axis --------------------------------------------------------------------

struct LawCase {
  std::string name;
  Dataset data;
  Real begin;
  Real end;
  double q;
  double epsilon;
};

void PrintTo(const LawCase& law_case, std::ostream* out) {
  *out << law_case.name;
}

Position position_at(Real p) {
  return static_cast<Position>(std::ceil(p * static_cast<Real>(kCellPositions)));
}

// Boundaries of bins: the ends of cells, and points that divide the probability into equal parts,
// which resolve a steep density too.
std::vector<Real> bin_boundaries(const LawCase& law_case, const QuantileDensity& density) {
  constexpr int kParts = 200;
  std::vector<Real> boundaries = {law_case.begin, law_case.end};
  for (int i = 1; i < kParts; ++i)
    boundaries.push_back(density.position_after(Real{1} * i / kParts));
  for (Real cell = 1; cell < law_case.end && cell < 1000; ++cell) {
    if (cell > law_case.begin) boundaries.push_back(cell);
  }
  std::sort(boundaries.begin(), boundaries.end());
  return boundaries;
}

double position_p_value(const LawCase& law_case, int draws) {
  const RealRank rank(law_case.data);
  const QuantileDensity density(rank, law_case.begin, law_case.end, law_case.q, law_case.epsilon);
  const std::vector<Real> boundaries = bin_boundaries(law_case, density);
  std::vector<Position> starts;
  std::vector<double> probabilities;
  for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
    starts.push_back(position_at(boundaries[i]));
    probabilities.push_back(
        static_cast<double>(density.probability(boundaries[i], boundaries[i + 1])));
  }

  const PositionInterval interval{position_at(law_case.begin), position_at(law_case.end)};
  PositionSampler sampler(law_case.data, interval, law_case.q, law_case.epsilon);
  std::vector<std::uint64_t> observed(probabilities.size());
  for (int i = 0; i < draws; ++i) {
    const Position drawn = sampler.draw();
    if (drawn < interval.begin || drawn >= interval.end) return 0;
    const auto after = std::upper_bound(starts.begin(), starts.end(), drawn);
    ++observed[static_cast<std::size_t>(after - starts.begin() - 1)];
  }
  return law_p_value(observed, probabilities);
}

class QuantilePosition : public ::testing::TestWithParam<LawCase> {};

TEST_P(QuantilePosition, FollowsItsDensity) {
  EXPECT_GT(position_p_value(GetParam(), kDraws), kLawFalseAlarm);
}

const Dataset kDistinct{10, {1, 3, 4, 7}};
const Dataset kTies{10, {2, 2, 2, 5, 5, 8}};
const Dataset kOneCell{6, {4, 4, 4, 4, 4}};
const Dataset kEmpty{8, {}};

INSTANTIATE_TEST_SUITE_P(
    TinyData, QuantilePosition,
    ::testing::Values(LawCase{"MedianOfDistinct", kDistinct, 0, 10, 0.5, 1},
                      LawCase{"MinimumOfDistinct", kDistinct, 0, 10, 0, 2},
                      LawCase{"MaximumOfDistinct", kDistinct, 0, 10, 1, 2},
                      LawCase{"LowQuantileOfDistinct", kDistinct, 0, 10, 0.3, 3},
                      LawCase{"MedianOfTies", kTies, 0, 10, 0.5, 1},
                      LawCase{"HighQuantileOfTies", kTies, 0, 10, 0.7, 2},
                      LawCase{"MedianOfOneCell", kOneCell, 0, 6, 0.5, 1},
                      LawCase{"MaximumOfOneCell", kOneCell, 0, 6, 1, 1},
                      LawCase{"ExtremesOfTheGrid", {5, {0, 4}}, 0, 5, 0.5, 2},
                      LawCase{"Empty", kEmpty, 0, 8, 0.5, 3},
                      LawCase{"EmptyMinimumInPartOfTheGrid", kEmpty, 2.25L, 5.5L, 0, 3},
                      LawCase{"OneCellGrid", {1, {0, 0, 0}}, 0, 1, 0.3, 4},
                      LawCase{"EmptyOneCellGrid", {1, {}}, 0, 1, 0.5, 4},
                      LawCase{"TwoCellGrid", {2, {0, 1, 1}}, 0, 2, 0.5, 1}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Interval, QuantilePosition,
    ::testing::Values(LawCase{"CutsEmptyCells", kDistinct, 2.5L, 6.25L, 0.5, 2},
                      LawCase{"CutsOccupiedCells", kDistinct, 1.5L, 7.25L, 0.3, 3},
                      LawCase{"CutsTies", kTies, 2.75L, 5.125L, 0.5, 4},
                      LawCase{"InsideOneCell", kOneCell, 4.25L, 4.75L, 0.7, 8},
                      LawCase{"EndsInsideTheOnlyCell", kOneCell, 0, 4.5L, 1, 2},
                      LawCase{"StartsInsideTheOnlyCell", kOneCell, 4.5L, 6, 0, 2}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    ExtremeEpsilon, QuantilePosition,
    ::testing::Values(LawCase{"OneMillionth", kTies, 0, 10, 0.3, 1e-6},
                      LawCase{"Is50", kTies, 0, 10, 0.3, 50},
                      LawCase{"Is50BetweenRecords", kDistinct, 0, 10, 0.5, 50},
                      LawCase{"Is1000", kTies, 0, 10, 0.3, 1000},
                      LawCase{"Is1000AtTheMaximum", kDistinct, 0.5L, 7.5L, 1, 1000},
                      LawCase{"Is1000OnTheLargestGrid",
                              {kMostCells, {5, 1U << 31, 1U << 31, 0xffffffff}},
                              0,
                              static_cast<Real>(kMostCells),
                              0.5,
                              1000},
                      LawCase{"Is1OnTheLargestGrid",
                              {kMostCells, {5, 1U << 30, 1U << 31, 0xffffffff}},
                              0,
                              static_cast<Real>(kMostCells),
                              0.3,
                              1}),
    case_name);

// Enough occupied cells that the walk over them keeps several checkpoints.
TEST(DrawQuantilePosition, FollowsItsDensityOverManyRuns) {
  Dataset data{900, {}};
  for (std::uint32_t i = 0; i < 300; ++i) data.records.push_back(i * i % 899);
  for (const double epsilon : {1e-3, 0.1}) {
    const LawCase law_case{"ManyRuns", data, 0.5L, 899.25L, 0.3, epsilon};
    EXPECT_GT(position_p_value(law_case, 40'000), kLawFalseAlarm) << epsilon;
  }
}

// --- The law of single positions -----------------------------------------------------------------

// Some positions around cell 2 of a value grid. The cell has enough records that each position
// counts.
struct PositionsCase {
  std::string name;
  Dataset data;
  int begin;  // from the start of cell 2
  int end;
  double q;
};

void PrintTo(const PositionsCase& positions_case, std::ostream* out) {
  *out << positions_case.name;
}

// The sum over all positions, from the definition.
std::vector<double> law_of_positions(const Dataset& data, PositionInterval interval, double q,
                                     double epsilon) {
  const auto rank = [&](Position p) {
    Real mass = 0;
    for (const std::uint32_t cell : data.records) {
      const auto inside = static_cast<std::int64_t>(p - (Position{cell} << 24));
      mass += static_cast<Real>(std::clamp<std::int64_t>(inside, 0, 1 << 24)) / (1 << 24);
    }
    return mass;
  };
  const Real first = rank(interval.begin);
  const Real target = first + q * (rank(interval.end) - first);
  const Real lambda = epsilon / (2 * std::max(q, 1 - q));
  std::vector<double> law;
  for (Position p = interval.begin; p < interval.end; ++p) {
    law.push_back(static_cast<double>(std::exp(-lambda * std::fabs(rank(p) - target))));
  }
  const double total = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& probability : law) probability /= total;
  return law;
}

class QuantilePositions : public ::testing::TestWithParam<PositionsCase> {};

TEST_P(QuantilePositions, HaveTheirExactProbabilities) {
  constexpr double kEpsilon = 1000;
  const PositionsCase& positions = GetParam();
  const auto at = [](int offset) {
    return static_cast<Position>(static_cast<std::int64_t>(cell_start(2)) + offset);
  };
  const PositionInterval interval{at(positions.begin), at(positions.end)};
  const std::vector<double> law = law_of_positions(positions.data, interval, positions.q, kEpsilon);
  PositionSampler sampler(positions.data, interval, positions.q, kEpsilon);
  std::vector<std::uint64_t> observed(law.size());
  for (int i = 0; i < kDraws / 2; ++i) {
    const Position drawn = sampler.draw();
    ASSERT_GE(drawn, interval.begin);
    ASSERT_LT(drawn, interval.end);
    ++observed[as_size(drawn - interval.begin)];
  }
  if (law.size() == 1) return;
  EXPECT_GT(law_p_value(observed, law), kLawFalseAlarm);
}

// lambda times the records of the cell is between 1/8 and 1/2 per position.
const Dataset kCellBetweenGaps = records_on_cell(1U << 12, 2, 5);
const Dataset kTwoCells = [] {
  Dataset data = records_on_cell(1U << 12, 1, 5);
  data.records.insert(data.records.end(), 1U << 11, 2);
  return data;
}();
const Dataset kGapAmongRecords = [] {
  Dataset data = records_on_cell(1U << 12, 1, 5);
  data.records.insert(data.records.end(), 1U << 12, 3);
  return data;
}();

INSTANTIATE_TEST_SUITE_P(
    AroundACellsEnd, QuantilePositions,
    ::testing::Values(
        PositionsCase{"GapThenCellMinimum", kCellBetweenGaps, -5, 6, 0},
        PositionsCase{"GapThenCellMedian", kCellBetweenGaps, -3, 12, 0.5},
        PositionsCase{"GapThenCellMaximum", kCellBetweenGaps, -4, 9, 1},
        PositionsCase{"CellThenGapMinimum", kCellBetweenGaps, (1 << 24) - 9, (1 << 24) + 4, 0},
        PositionsCase{"CellThenGapMedian", kCellBetweenGaps, (1 << 24) - 12, (1 << 24) + 3, 0.5},
        PositionsCase{"CellThenGapMaximum", kCellBetweenGaps, (1 << 24) - 9, (1 << 24) + 4, 1},
        PositionsCase{"CellThenCellMedian", kTwoCells, -8, 8, 0.5},
        PositionsCase{"CellThenCellLow", kTwoCells, -8, 8, 0.3},
        PositionsCase{"CellThenCellHigh", kTwoCells, -8, 8, 0.8},
        PositionsCase{"OnlyTheEndOfACell", kTwoCells, -3, 1, 0.5}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    InsideACell, QuantilePositions,
    ::testing::Values(PositionsCase{"OnePosition", kCellBetweenGaps, 5, 6, 0.5},
                      PositionsCase{"TwoPositions", kCellBetweenGaps, 5, 7, 0.5},
                      PositionsCase{"TargetOnAPosition", kCellBetweenGaps, 100, 110, 0.5},
                      PositionsCase{"TargetBetweenPositions", kCellBetweenGaps, 100, 111, 0.5},
                      PositionsCase{"TargetNearAPosition", kCellBetweenGaps, 100, 113, 0.3},
                      PositionsCase{"Minimum", kCellBetweenGaps, 100, 130, 0},
                      PositionsCase{"Maximum", kCellBetweenGaps, 100, 130, 1},
                      PositionsCase{"NoRecords", kGapAmongRecords, 100, 107, 0.5}),
    case_name);

// With 2^22 records on a cell, one more position of distance to the target costs 250. The nearest
// position is drawn at any distance, and any other with a probability below e^-100.
class SteepPositions : public ::testing::Test {
 protected:
  static constexpr Position kMiddle = kCellPositions / 2;

  // How often the two positions around the target are drawn.
  static std::vector<std::uint64_t> counts_around(double offset, int draws) {
    const double q = (static_cast<double>(kMiddle) + offset) / static_cast<double>(kCellPositions);
    PositionSampler sampler(records_on_cell(1U << 22, 0, 1), {0, kCellPositions}, q, 1000);
    std::vector<std::uint64_t> counts(2);
    for (int i = 0; i < draws; ++i) ++counts.at(as_size(sampler.draw() - kMiddle));
    return counts;
  }
};

TEST_F(SteepPositions, AreTheNearestToTheTarget) {
  EXPECT_EQ(counts_around(0.25, 1000), (std::vector<std::uint64_t>{1000, 0}));
  EXPECT_EQ(counts_around(0.75, 1000), (std::vector<std::uint64_t>{0, 1000}));
}

TEST_F(SteepPositions, AreEitherOfTheTwoAtTheSameDistance) {
  EXPECT_GT(law_p_value(counts_around(0.5, 100'000), std::vector{0.5, 0.5}), kLawFalseAlarm);
}

// --- Far from the target -------------------------------------------------------------------------

// Heavy ties on the middle cell of the largest grid make the peak around the target a few positions
// wide. Half of the axis counts beside it, although each of its positions weighs almost nothing.
class FarHalf : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kMiddle = 1U << 31;

  // The p-value of how often one half is drawn, given the probability of that half.
  template <class InHalf>
  static double p_value(const Dataset& data, double q, double epsilon, double probability,
                        InHalf in_half) {
    PositionSampler sampler(data, {0, cell_start(kMostCells)}, q, epsilon);
    std::vector<std::uint64_t> observed(2);
    for (int i = 0; i < kDraws / 2; ++i) ++observed[in_half(sampler.draw())];
    return law_p_value(observed, std::vector{1 - probability, probability});
  }
  static bool is_left(Position p) { return p < cell_start(kMiddle - 1); }
  static bool is_right(Position p) { return p >= cell_start(kMiddle + std::uint64_t{2}); }
};

// The target is one position from an end of the cell. It has weight 1, and each neighbour has
// e^-41. Each of the 2^55 positions of the half beyond them has e^-41 too, together about 1/23.
class FarHalfBesideTheTarget : public FarHalf {
 protected:
  static constexpr double kEpsilon = 660;
  static constexpr double kQ = 0x1p-24;

  static double probability() {
    const double weight = 0x1p55 * std::exp(-kEpsilon / (2 * (1 - kQ)) / 8);
    return weight / (1 + weight);
  }
  Dataset data_ = records_on_cell(1U << 21, kMiddle, kMostCells);
};

TEST_F(FarHalfBesideTheTarget, KeepsItsProbabilityOnTheLeft) {
  EXPECT_GT(p_value(data_, kQ, kEpsilon, probability(), is_left), kLawFalseAlarm);
}

TEST_F(FarHalfBesideTheTarget, KeepsItsProbabilityOnTheRight) {
  EXPECT_GT(p_value(data_, 1 - kQ, kEpsilon, probability(), is_right), kLawFalseAlarm);
}

// The target is 41.2 records from an end of the cell, and one more record lies beside the cell
// there. Each position of the half beyond that record has weight e^-42.2.
class FarHalfBehindARecord : public FarHalf {
 protected:
  static constexpr double kEpsilon = 2;
  static constexpr std::uint32_t kTies = 1U << 22;
  static constexpr double kQ = 42.2 / (kTies + 1);

  static Dataset data_with_record_on(std::uint32_t cell) {
    Dataset data = records_on_cell(kTies, kMiddle, kMostCells);
    data.records.push_back(cell);
    return data;
  }
  static double probability(const Dataset& data, double q, Real begin, Real end) {
    const RealRank rank(data);
    const QuantileDensity density(rank, 0, static_cast<Real>(kMostCells), q, kEpsilon);
    return static_cast<double>(density.probability(begin, end));
  }
};

TEST_F(FarHalfBehindARecord, KeepsItsProbabilityOnTheLeft) {
  const Dataset data = data_with_record_on(kMiddle - 1);
  const double half = probability(data, kQ, 0, kMiddle - 1);
  EXPECT_GT(p_value(data, kQ, kEpsilon, half, is_left), kLawFalseAlarm);
}

TEST_F(FarHalfBehindARecord, KeepsItsProbabilityOnTheRight) {
  const Dataset data = data_with_record_on(kMiddle + 1);
  const double half = probability(data, 1 - kQ, Real{kMiddle} + 2, static_cast<Real>(kMostCells));
  EXPECT_GT(p_value(data, 1 - kQ, kEpsilon, half, is_right), kLawFalseAlarm);
}

// Any other cell has a probability below 2^56 e^(-lambda 2^19) < 10^-200.
TEST(DrawQuantilePosition, FindsTheCellOfAMillionTies) {
  PositionSampler sampler(records_on_cell(1'000'000, 77, kMostCells), {0, cell_start(kMostCells)},
                          0.5, 0.1);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(cell_at(sampler.draw()), 77U);
}

// --- Failure -------------------------------------------------------------------------------------

// Neighbours and two intervals cost four times the rounding error of a weight, 2^-43, and half of
// the factor 1 - 2^-16 is left to pay for it (docs/privacy.md, "Floating point").
TEST(DrawQuantilePosition, RefusesAnEpsilonThatDoesNotPayForItsRounding) {
  EXPECT_LE(4 * 0x1p-43, 0x1p-17 * kMinDrawEpsilon);
  const Dataset data{4, {1, 2}};
  EXPECT_NO_THROW(PositionSampler(data, {0, cell_start(4)}, 0.5, kMinDrawEpsilon).draw());
  for (const double epsilon : {0.99 * kMinDrawEpsilon, 0.0, -1.0, std::nan("")}) {
    EXPECT_THROW(PositionSampler(data, {0, cell_start(4)}, 0.5, epsilon).draw(),
                 std::invalid_argument);
  }
}

TEST(DrawQuantilePosition, ThrowsWhenTheSourceFails) {
  const Histogram histogram = histogram_of(kDistinct);
  const SmearedRank rank(histogram);
  FailingSource source;
  EXPECT_THROW(draw_quantile_position(rank, {0, cell_start(10)}, 0.5, 1, TestContext(source)),
               RandomnessUnavailable);
}

}  // namespace
}  // namespace dpquantile
