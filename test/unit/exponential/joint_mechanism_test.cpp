#include "core/exponential/joint_mechanism.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <new>
#include <numbers>
#include <numeric>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/exponential/rank.hpp"
#include "core/privacy/random.hpp"
#include "support/case_name.hpp"
#include "support/chi_square.hpp"
#include "support/context_testing.hpp"
#include "support/dataset.hpp"
#include "support/equally_spaced.hpp"
#include "support/half_tied.hpp"
#include "support/joint_law.hpp"
#include "support/quantiles_sampler.hpp"
#include "support/random_testing.hpp"

// A draw takes about half a millisecond, so samples are small. Every statistical check has a
// false-alarm probability of 10^-9, up to the chi-square approximation (see chi_square.hpp).
namespace dpquantile {
namespace {

using test::case_name;
using test::Dataset;
using test::equally_spaced;
using test::FailingSource;
using test::half_tied;
using test::heap;
using test::histogram_of;
using test::joint_law;
using test::joint_points;
using test::JointCellLaw;
using test::JointCells;
using test::JointDeparture;
using test::JointPoint;
using test::JointTuples;
using test::kFalseAlarm;
using test::p_value;
using test::Real;
using test::SeededSource;
using test::TestContext;

using Quantiles = std::vector<double>;
using Positions = std::vector<Position>;

constexpr std::uint64_t kMostCells = std::uint64_t{1} << 32;

// Independent draws for one data set.
class JointSampler {
 public:
  JointSampler(const Dataset& data, Quantiles quantiles, double epsilon)
      : JointSampler(data, {0, cell_start(data.cells)}, std::move(quantiles), epsilon) {}
  JointSampler(const Dataset& data, PositionInterval interval, Quantiles quantiles, double epsilon)
      : histogram_(histogram_of(data)),
        interval_(interval),
        quantiles_(std::move(quantiles)),
        epsilon_(epsilon) {}

  Positions draw() {
    Positions positions(quantiles_.size());
    draw_joint_positions(rank_, interval_, quantiles_, epsilon_, context_, positions);
    return positions;
  }

  JointCells draw_cells() {
    JointCells cells;
    for (const Position position : draw()) {
      cells.push_back(static_cast<std::uint32_t>(cell_at(position)));
    }
    return cells;
  }

 private:
  Histogram histogram_;
  SmearedRank rank_{histogram_};
  PositionInterval interval_;
  Quantiles quantiles_;
  double epsilon_;
  TestContext context_;
};

// --- The law of few quantiles --------------------------------------------------------------------

struct JointCase {
  std::string name;
  Dataset data;
  Quantiles quantiles;
  double epsilon;
  int points_per_cell;
  int draws = 1500;
};

void PrintTo(const JointCase& joint_case, std::ostream* out) {
  *out << joint_case.name;
}

class JointMechanismLaw : public ::testing::TestWithParam<JointCase> {};

TEST_P(JointMechanismLaw, EqualsTheSumOverAllPositions) {
  const JointCase& given = GetParam();
  const JointCellLaw law =
      joint_law(given.data, given.quantiles, given.epsilon, given.points_per_cell);
  JointSampler sampler(given.data, given.quantiles, given.epsilon);
  EXPECT_GT(p_value(law, given.draws, [&] { return sampler.draw_cells(); }), kFalseAlarm);
}

INSTANTIATE_TEST_SUITE_P(
    OneQuantile, JointMechanismLaw,
    ::testing::Values(JointCase{"MedianOfTies", {5, {1, 1, 3}}, {0.5}, 2, 1000},
                      JointCase{"MinimumAtAnExtreme", {4, {3, 3}}, {0}, 3, 1000},
                      JointCase{"MaximumAtAnExtreme", {4, {0, 0, 1}}, {1}, 3, 1000},
                      JointCase{"Low", {4, {0, 1, 1, 2, 2, 2, 2, 3}}, {0.1}, 1, 1000},
                      JointCase{"NoRecords", {4, {}}, {0.5}, 1, 1}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    TwoQuantiles, JointMechanismLaw,
    ::testing::Values(JointCase{"Quartiles", {5, {1, 2, 2, 4}}, {0.25, 0.75}, 3, 100, 2500},
                      JointCase{
                          "CutInAHeavyCell", {3, {1, 1, 1, 1, 1, 1}}, {0.3, 0.6}, 4, 150, 2500},
                      JointCase{"MinimumAndMaximum", {4, {0, 2, 3}}, {0, 1}, 4, 150},
                      JointCase{"Close", {4, {0, 0, 0, 3, 3}}, {0.45, 0.5}, 2, 150},
                      JointCase{"High", {3, {0, 1, 1, 2, 2, 2}}, {0.9, 0.95}, 3, 120},
                      JointCase{"LittleNoise", {4, {0, 1, 2, 3}}, {0.25, 0.75}, 30, 120},
                      JointCase{"MuchNoise", {3, {0, 2, 2}}, {0.2, 0.6}, 0.1, 60},
                      JointCase{"NoRecords", {3, {}}, {0.25, 0.75}, 2, 1}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    MoreQuantiles, JointMechanismLaw,
    ::testing::Values(JointCase{"Quartiles", {4, {0, 1, 3, 3}}, {0.25, 0.5, 0.75}, 4, 24, 2500},
                      JointCase{"Uneven", {3, {1, 1, 1, 2, 2}}, {0.1, 0.2, 0.9}, 6, 36},
                      JointCase{"WithBothEnds", {3, {0, 2, 2}}, {0, 0.5, 1}, 4, 30},
                      JointCase{"NoRecords", {3, {}}, {0.25, 0.5, 0.75}, 3, 1},
                      JointCase{"FourTied", {3, {1, 1, 1}}, {0.2, 0.4, 0.6, 0.8}, 6, 20}),
    case_name);

// The ends of the interval lie inside cells.
TEST(JointMechanism, SeesOnlyItsInterval) {
  const Dataset data{5, {0, 1, 1, 3, 3, 4}};
  const Quantiles quantiles = {0.25, 0.75};
  constexpr Real kBegin = 1.25L;
  constexpr Real kEnd = 4.5L;
  const std::vector<JointPoint> points = joint_points(data, kBegin, kEnd, 60);
  const JointDeparture departure(quantiles, 4);
  std::map<JointCells, Real> law;
  Real total = 0;
  const auto add = [&](const std::vector<std::size_t>& tuple, Real weight) {
    law[{points[tuple[0]].cell, points[tuple[1]].cell}] += weight;
    total += weight;
  };
  JointTuples(points, 4, departure, 2, add).visit_all();
  for (auto& [cells, probability] : law) probability /= total;

  const PositionInterval interval{kCellPositions + kCellPositions / 4,
                                  4 * kCellPositions + kCellPositions / 2};
  JointSampler sampler(data, interval, quantiles, 4);
  EXPECT_GT(p_value(law, 1500, [&] { return sampler.draw_cells(); }), kFalseAlarm);
}

// The next levels of the recursion depend on the law of positions within cells.
TEST(JointMechanism, FollowsTheDensityWithinACell) {
  const Dataset data{1, {0, 0, 0}};
  const Quantiles quantiles = {0.25, 0.75};
  const std::vector<JointPoint> points = joint_points(data, 0, 1, 160);
  const JointDeparture departure(quantiles, 6);
  std::map<JointCells, Real> law;
  Real total = 0;
  const auto add = [&](const std::vector<std::size_t>& tuple, Real weight) {
    law[{static_cast<std::uint32_t>(tuple[0] / 20), static_cast<std::uint32_t>(tuple[1] / 20)}] +=
        weight;
    total += weight;
  };
  JointTuples(points, 3, departure, 2, add).visit_all();
  for (auto& [cells, probability] : law) probability /= total;

  JointSampler sampler(data, quantiles, 6);
  const auto draw = [&] {
    JointCells eighths;
    for (const Position position : sampler.draw()) {
      eighths.push_back(static_cast<std::uint32_t>(position >> (kPositionBits - 3)));
    }
    return eighths;
  };
  EXPECT_GT(p_value(law, 1500, draw), kFalseAlarm);
}

// --- The law of many quantiles -------------------------------------------------------------------

// Records on two cells of the largest grid. In units of 1 / lambda they are so few that positions
// in these cells have a probability below 120 * 2 * 2^-32 * e^5 < 10^-5, which no sample shows. The
// law is that of the numbers of quantiles before, between and behind the cells: sorted uniform
// positions, weighted by exp(-lambda F).
struct TwoCells {
  std::uint32_t low_cell;
  std::uint32_t high_cell;
  std::size_t low;
  std::size_t high;

  Dataset data() const {
    Dataset data{kMostCells, std::vector<std::uint32_t>(low, low_cell)};
    data.records.insert(data.records.end(), high, high_cell);
    return data;
  }
};

using Parts = std::array<std::size_t, 2>;  // quantiles before and between the cells

std::map<Parts, Real> law_of_parts(const TwoCells& cells, const Quantiles& quantiles,
                                   double epsilon) {
  const std::size_t b = quantiles.size();
  const JointDeparture departure(quantiles, epsilon);
  const Real all = static_cast<Real>(kMostCells);
  const Real low = static_cast<Real>(cells.low_cell) / all;
  const Real between = static_cast<Real>(cells.high_cell - cells.low_cell) / all;
  std::map<Parts, Real> law;
  Real total = 0;
  std::vector<Real> gaps(b + 1);
  for (std::size_t i = 0; i <= b; ++i) {
    for (std::size_t j = 0; i + j <= b; ++j) {
      std::ranges::fill(gaps, 0);
      gaps[i] += static_cast<Real>(cells.low);
      gaps[i + j] += static_cast<Real>(cells.high);
      const Real a = static_cast<Real>(i);
      const Real c = static_cast<Real>(j);
      const Real e = static_cast<Real>(b - i - j);
      const Real volume = std::lgamma(static_cast<Real>(b + 1)) - std::lgamma(a + 1) -
                          std::lgamma(c + 1) - std::lgamma(e + 1) + a * std::log(low) +
                          c * std::log(between) + e * std::log(1 - low - between);
      const Real weight = std::exp(volume - departure.lambda() * departure.least(gaps));
      law[{i, j}] = weight;
      total += weight;
    }
  }
  for (auto& [parts, probability] : law) probability /= total;
  return law;
}

Parts parts_of(const JointCells& cells, const TwoCells& data) {
  Parts parts{};
  for (const std::uint32_t cell : cells) {
    if (cell < data.low_cell) ++parts[0];
    if (cell >= data.low_cell && cell < data.high_cell) ++parts[1];
  }
  return parts;
}

struct ManyCase {
  std::string name;
  std::size_t quantiles;
  double epsilon;
  int draws;
};

void PrintTo(const ManyCase& many_case, std::ostream* out) {
  *out << many_case.name;
}

class JointMechanismOfManyQuantiles : public ::testing::TestWithParam<ManyCase> {};

TEST_P(JointMechanismOfManyQuantiles, HasTheLawOfTheNumbersBetweenCells) {
  const auto& [name, quantiles, epsilon, draws] = GetParam();
  const TwoCells cells{1U << 30, 3U << 30, 4, 6};
  const std::map<Parts, Real> law = law_of_parts(cells, equally_spaced(quantiles), epsilon);
  JointSampler sampler(cells.data(), equally_spaced(quantiles), epsilon);
  EXPECT_GT(p_value(law, draws, [&] { return parts_of(sampler.draw_cells(), cells); }),
            kFalseAlarm);
}

// Up to 4 quantiles have a program of their own, in which the two cells are heavy. Up to 16 are
// drawn in double precision.
INSTANTIATE_TEST_SUITE_P(Numbers, JointMechanismOfManyQuantiles,
                         ::testing::Values(ManyCase{"Two", 2, 1.5, 20'000},
                                           ManyCase{"Four", 4, 1.5, 20'000},
                                           ManyCase{"Five", 5, 1, 2000},
                                           ManyCase{"Sixteen", 16, 1, 1000},
                                           ManyCase{"Seventeen", 17, 1, 1000}),
                         case_name);

// --- Slots far from the targets ------------------------------------------------------------------

// 70 records in the first of 2^32 cells and 30 spread evenly over the others. The grid is so wide
// that both quartiles often lie among the 30, with ranks far from 25. Slots are joined there for
// the lower one (joint_chain.hpp). A part is the first cell, or the cells between two of the 30
// records.
struct HeavyBeginning {
  static constexpr std::size_t kHeavy = 70;
  static constexpr std::size_t kLight = 30;
  static constexpr std::uint64_t kSpacing = kMostCells / (kLight + 1);

  static Dataset data() {
    Dataset data{kMostCells, std::vector<std::uint32_t>(kHeavy, 0)};
    for (std::size_t i = 1; i <= kLight; ++i) {
      data.records.push_back(static_cast<std::uint32_t>(i * kSpacing));
    }
    return data;
  }
  static std::size_t part_of(std::uint32_t cell) {
    return cell == 0 ? 0 : 1 + std::min<std::size_t>(cell / kSpacing, kLight);
  }

  // A position of a part, with the part of the axis that it stands for.
  struct Point {
    std::size_t part;
    Real rank;
    Real measure;
  };

  // Leaves out the cells of the 30 records, in which a position lies with a probability below
  // 10^-7.
  static std::vector<Point> points() {
    constexpr std::size_t kInFirstCell = 200;
    std::vector<Point> points;
    for (std::size_t i = 0; i < kInFirstCell; ++i) {
      points.push_back({0, (static_cast<Real>(i) + 0.5L) * kHeavy / kInFirstCell,
                        1.0L / static_cast<Real>(kMostCells) / kInFirstCell});
    }
    for (std::size_t i = 0; i <= kLight; ++i) {
      points.push_back({1 + i, static_cast<Real>(kHeavy + i), 1.0L / (kLight + 1)});
    }
    return points;
  }

  static std::map<Parts, Real> law(const Quantiles& quartiles, double epsilon) {
    const JointDeparture departure(quartiles, epsilon);
    const std::vector<Point> all = points();
    std::map<Parts, Real> law;
    Real total = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = i; j < all.size(); ++j) {
        const std::vector<Real> gaps = {all[i].rank, all[j].rank - all[i].rank,
                                        kHeavy + kLight - all[j].rank};
        const Real weight = (i == j ? 1 : 2) * all[i].measure * all[j].measure *
                            std::exp(-departure.lambda() * departure.least(gaps));
        law[{all[i].part, all[j].part}] += weight;
        total += weight;
      }
    }
    for (auto& [parts, probability] : law) probability /= total;
    return law;
  }
};

TEST(JointMechanism, HasTheLawOfQuantilesFarFromTheirRanks) {
  const Quantiles quartiles = {0.25, 0.75};
  constexpr double kEpsilon = 0.5;
  JointSampler sampler(HeavyBeginning::data(), quartiles, kEpsilon);
  const auto draw = [&] {
    const JointCells cells = sampler.draw_cells();
    return Parts{HeavyBeginning::part_of(cells[0]), HeavyBeginning::part_of(cells[1])};
  };
  EXPECT_GT(p_value(HeavyBeginning::law(quartiles, kEpsilon), 20'000, draw), kFalseAlarm);
}

// One quantile and few points of the lattice show best which part of the proposals is kept. If the
// code took another point's departure for the least one, or did not rescale the sum over the points
// to it, chi-square would be about 174 or more instead of 2. The test misses that with a
// probability of 10^-6.
TEST(JointMechanism, HasTheLawOfOneQuantileAroundTwoRecords) {
  const TwoCells cells{static_cast<std::uint32_t>(0.49 * kMostCells),
                       static_cast<std::uint32_t>(0.51 * kMostCells), 1, 1};
  const Quantiles median = {0.5};
  const std::map<Parts, Real> law = law_of_parts(cells, median, 4);
  JointSampler sampler(cells.data(), median, 4);
  EXPECT_GT(p_value(law, 8'000, [&] { return parts_of(sampler.draw_cells(), cells); }),
            kFalseAlarm);
}

// The law of the numbers is nearly normal, so the mean of 40 draws lies outside 7 standard
// deviations with a probability of 10^-9.
TEST(JointMechanism, HasTheMeanNumbersBetweenCellsOf120Quantiles) {
  constexpr int kDraws = 40;
  const TwoCells cells{1U << 30, 3U << 30, 4, 6};
  const std::map<Parts, Real> law = law_of_parts(cells, equally_spaced(120), 1);
  JointSampler sampler(cells.data(), equally_spaced(120), 1);
  std::array<Real, 2> sums{};
  for (int i = 0; i < kDraws; ++i) {
    const Parts parts = parts_of(sampler.draw_cells(), cells);
    for (std::size_t k = 0; k < 2; ++k) sums[k] += static_cast<Real>(parts[k]);
  }
  for (std::size_t k = 0; k < 2; ++k) {
    Real mean = 0;
    Real square = 0;
    for (const auto& [parts, probability] : law) {
      mean += probability * static_cast<Real>(parts[k]);
      square += probability * static_cast<Real>(parts[k] * parts[k]);
    }
    const Real deviation = std::sqrt((square - mean * mean) / kDraws);
    EXPECT_NEAR(static_cast<double>(sums[k] / kDraws - mean), 0,
                static_cast<double>(7 * deviation));
  }
}

// --- Many records, and quantiles that lie together -----------------------------------------------

Dataset evenly_spread(std::uint32_t records) {
  Dataset data{records, std::vector<std::uint32_t>(records)};
  std::iota(data.records.begin(), data.records.end(), 0U);
  return data;
}

// A quantile's rank is wrong by D only if F >= D. All positions with F at most b + 1 and a step of
// the lattice have a measure above (1/n)^b. So the probability of a miss of D is below
// n^b e^(b + 1 + step - D / 2): below 10^-20 for D = 500, n = 10^6 and b = 10.
TEST(JointMechanism, IsCloseToTheTrueQuantilesOfManyRecords) {
  for (const std::uint32_t records : {10'000U, 1'000'000U}) {
    const JointCells cells =
        JointSampler(evenly_spread(records), equally_spaced(9), 1).draw_cells();
    for (std::size_t k = 0; k < cells.size(); ++k) {
      EXPECT_NEAR(cells[k], static_cast<double>(k + 1) / 10 * records, 500);
    }
  }
}

TEST(JointMechanism, IsCloseToTrueQuantilesThatLieTogether) {
  for (const std::uint32_t records : {300U, 3'000U, 100'000U}) {
    const Quantiles quantiles = {0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99};
    const JointCells cells = JointSampler(evenly_spread(records), quantiles, 1).draw_cells();
    for (std::size_t k = 0; k < cells.size(); ++k) {
      EXPECT_NEAR(cells[k], quantiles[k] * records, 500);
    }
  }
}

TEST(JointMechanism, IsWithinFiveRecordsAtTheLargestEpsilon) {
  for (const std::uint32_t records : {100U, 100'000U}) {
    const JointCells cells =
        JointSampler(evenly_spread(records), equally_spaced(3), 1000).draw_cells();
    for (std::size_t k = 0; k < cells.size(); ++k) {
      EXPECT_NEAR(cells[k], static_cast<double>(k + 1) / 4 * records, 5);
    }
  }
}

TEST(JointMechanism, TerminatesAtTheSmallestEpsilon) {
  const Positions positions = JointSampler(evenly_spread(1000), equally_spaced(9), 1e-6).draw();
  EXPECT_TRUE(std::ranges::is_sorted(positions));
}

TEST(JointMechanism, DrawsAscendingPositionsInTheInterval) {
  const PositionInterval interval{kCellPositions / 3, 900 * kCellPositions + 12345};
  JointSampler sampler(evenly_spread(1000), interval, equally_spaced(7), 0.5);
  for (int i = 0; i < 100; ++i) {
    const Positions positions = sampler.draw();
    ASSERT_TRUE(std::ranges::is_sorted(positions));
    ASSERT_GE(positions.front(), interval.begin);
    ASSERT_LT(positions.back(), interval.end);
  }
}

// --- Failure -------------------------------------------------------------------------------------

class DrawJointPositions : public ::testing::Test {
 protected:
  void draw(std::size_t quantiles, RandomSource& source, CancelPoll::Predicate requested,
            std::pmr::memory_resource* memory) const {
    Positions positions(quantiles);
    draw_joint_positions(rank_, {0, cell_start(1000)}, equally_spaced(quantiles), 1,
                         TestContext(source, requested, memory), positions);
  }

  Histogram histogram_ = histogram_of(evenly_spread(1000));
  SmearedRank rank_{histogram_};
  CsprngSource good_source_;
};

TEST_F(DrawJointPositions, RefusesAWrongNumberOfQuantiles) {
  EXPECT_THROW(draw(0, good_source_, nullptr, heap()), std::invalid_argument);
  EXPECT_THROW(draw(kMaxJointQuantiles + 1, good_source_, nullptr, heap()), std::invalid_argument);
}

// docs/privacy.md, "Floating point", bounds the rounding errors so: L is the limit on the
// departure, K the number of slots in a window, c the error of the logarithm of a weight. Up to 4
// quantiles have a program of their own.
double rounding_cost(std::size_t quantiles, double epsilon) {
  const auto b = static_cast<double>(quantiles);
  const double lambda = joint_lambda(epsilon);
  const double envelope = std::min(1.6 + 0.16 * b, 4.0);
  const bool doubles = quantiles <= 16;
  const double at_position = doubles ? 4 : 32 * lambda;
  const bool small = quantiles <= 4;
  const double records = small ? 2 * std::max(1.0, b * at_position) : (b + 1) * at_position;
  const double limit = records + b + 1 + (56 * b + 85) * std::numbers::ln2;
  const double slots = small ? 4 * limit * b + 6 : limit * b / envelope + 3;
  const double weight = b * slots * (doubles ? 0x1p-50 : 0x1p-60);
  return 4 * (weight + 2 * limit * 0x1p-51) + 0x1p-14 * epsilon;
}

TEST_F(DrawJointPositions, RefusesAnEpsilonThatDoesNotPayForItsRounding) {
  const TestContext context;
  for (std::size_t quantiles = 1; quantiles <= kMaxJointQuantiles; ++quantiles) {
    const double least = min_joint_epsilon(quantiles);
    EXPECT_LT(rounding_cost(quantiles, least), 0x1p-10 * least) << quantiles;
    Positions positions(quantiles);
    EXPECT_THROW(draw_joint_positions(rank_, {0, cell_start(1000)}, equally_spaced(quantiles),
                                      0.99 * least, context, positions),
                 std::invalid_argument);
  }
}

// Up to the limit the number of records between two cells is exact as a double.
TEST_F(DrawJointPositions, RefusesMoreRecordsThanItsArithmeticAllows) {
  const TestContext context;
  const Quantiles quantiles = {0.25, 0.75};
  Positions positions(2);
  for (const std::uint32_t more : {0U, 1U}) {
    CellRuns runs(heap());
    runs.append({3, static_cast<std::uint32_t>(kMaxJointRecords) + more});
    const Histogram data(1, 1, CellRunsReader(runs), context);
    const auto draw = [&] {
      draw_joint_positions(SmearedRank(data), {0, cell_start(8)}, quantiles, 1, context, positions);
    };
    if (more == 0) {
      EXPECT_NO_THROW(draw());
    } else {
      EXPECT_THROW(draw(), std::length_error);
    }
  }
}

TEST_F(DrawJointPositions, ThrowsWhenTheRandomSourceFails) {
  FailingSource source;
  EXPECT_THROW(draw(3, source, nullptr, heap()), RandomnessUnavailable);
}

TEST_F(DrawJointPositions, StopsWhenCancelled) {
  const auto stop = [] { return true; };
  EXPECT_THROW(draw(9, good_source_, stop, heap()), Cancelled);
}

TEST_F(DrawJointPositions, ThrowsWhenMemoryRunsOut) {
  EXPECT_THROW(draw(3, good_source_, nullptr, std::pmr::null_memory_resource()), std::bad_alloc);
}

// --- Time ----------------------------------------------------------------------------------------

int checks_left = 0;
bool none_left() {
  return --checks_left < 0;
}

// A draw with proposals that are refused again and again would reveal something about the data by
// its time. A draw asks once per round of some hundred proposals whether it is cancelled.
void expect_drawn_in_few_rounds(const Dataset& data, const std::vector<double>& quantiles,
                                double epsilon) {
  const Histogram histogram = histogram_of(data);
  const SmearedRank rank(histogram);
  CsprngSource source;
  const TestContext context(source, none_left);
  checks_left = 500;
  std::vector<Position> positions(quantiles.size());
  EXPECT_NO_THROW(draw_joint_positions(rank, {0, cell_start(data.cells)}, quantiles, epsilon,
                                       context, positions))
      << data.records.size() << " records";
}

const std::vector<double> kLow = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09};
const std::vector<double> kHigh = {0.9, 0.95, 0.99};

TEST(JointMechanism, DoesNotHangOnEqualRecords) {
  for (std::size_t n = 100; n <= 400; ++n) {
    expect_drawn_in_few_rounds({1 << 24, std::vector<std::uint32_t>(n, 0)}, kLow, 1);
  }
}

TEST(JointMechanism, DoesNotHangOnTwoValues) {
  for (std::size_t n = 50; n <= 400; n += 5) {
    Dataset data{1 << 20, std::vector<std::uint32_t>(n, 0)};
    for (std::size_t i = 0; i < n; i += 2) data.records[i] = (1 << 20) - 1;
    expect_drawn_in_few_rounds(data, kHigh, 1);
    expect_drawn_in_few_rounds(data, kLow, 1);
    expect_drawn_in_few_rounds(data, kHigh, 100);
  }
}

// Each of the other cells has a record, so no part of the axis is empty.
TEST(JointMechanism, DoesNotHangOnAHeavyCellBesideLightOnes) {
  for (const std::size_t heavy : {300U, 1000U, 5000U}) {
    Dataset data{4096, std::vector<std::uint32_t>(heavy, 0)};
    for (std::uint32_t cell = 1; cell < 4096; ++cell) data.records.push_back(cell);
    expect_drawn_in_few_rounds(data, kLow, 0.05);
    expect_drawn_in_few_rounds(data, kHigh, 0.05);
    expect_drawn_in_few_rounds(data, kLow, 1);
  }
}

int questions = 0;
bool count_question() {
  ++questions;
  return false;
}

// The number of questions whether the draws are cancelled, which is a measure of their work. The
// draws are the same in each run, so that there are no false alarms.
double work_of(const Dataset& data, std::size_t quantiles, int draws) {
  const Histogram histogram = histogram_of(data);
  const SmearedRank rank(histogram);
  SeededSource source;
  const TestContext context(source, count_question);
  questions = 0;
  std::vector<Position> positions(quantiles);
  for (int i = 0; i < draws; ++i) {
    draw_joint_positions(rank, {0, cell_start(data.cells)}, equally_spaced(quantiles), 1, context,
                         positions);
  }
  return questions;
}

// Threat 25: one record more once took three times as much work, which told whether it was there.
TEST(JointMechanism, WorksAsMuchForANeighbour) {
  const double with = work_of(half_tied(133), 32, 30);
  const double without = work_of(half_tied(132), 32, 30);
  EXPECT_LT(with, 1.6 * without);
  EXPECT_LT(without, 1.6 * with);
}

// A call is paid for before it is drawn, so that no number of quantiles may take very long.
TEST(JointMechanism, WorksLittleMoreForOneMoreQuantile) {
  Dataset data{std::uint64_t{1} << 20, {}};
  std::mt19937 random(1);
  for (int i = 0; i < 300'000; ++i) {
    data.records.push_back(static_cast<std::uint32_t>(random() % (1U << 20)));
  }
  double fewer = work_of(data, 11, 5);
  for (std::size_t quantiles = 12; quantiles <= 24; ++quantiles) {
    const double work = work_of(data, quantiles, 5);
    EXPECT_LT(work, 2 * fewer) << quantiles << " quantiles";
    fewer = work;
  }
}

}  // namespace
}  // namespace dpquantile
