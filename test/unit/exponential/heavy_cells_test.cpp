#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "core/exponential/joint_mechanism.hpp"
#include "core/exponential/rank.hpp"
#include "support/case_name.hpp"
#include "support/cell_runs_testing.hpp"
#include "support/chi_square.hpp"
#include "support/context_testing.hpp"
#include "support/joint_law.hpp"

// threat 119: joint draws where cells have very many records, against sums over all positions by
// the definition of their law. Every statistical check has a false-alarm probability of 10^-9, up
// to the chi-square approximation (see chi_square.hpp).
namespace dpquantile {
namespace {

using test::case_name;
using test::encoded;
using test::heap;
using test::JointDeparture;
using test::JointPoint;
using test::JointTuples;
using test::kFalseAlarm;
using test::p_value;
using test::Real;
using test::Runs;
using test::TestContext;

using Quantiles = std::vector<double>;
using Labels = std::vector<std::uint32_t>;

constexpr std::uint64_t kManyCells = std::uint64_t{1} << 32;
constexpr std::uint32_t kTop = 0xffffffff;

int checks_left = 0;
bool none_left() {
  return --checks_left < 0;
}

// The quantiles are those of these targets, in records from the beginning of the interval.
struct HeavyCase {
  std::string name;
  Runs runs;
  PositionInterval interval;
  std::vector<double> targets;
  double epsilon;
  int draws;
};

void PrintTo(const HeavyCase& heavy_case, std::ostream* out) {
  *out << heavy_case.name;
}

// The interval in stretches of positions, for the sum over all positions. A gap between
// cells is a point. So is a position of a cell, or several with about the same rank. Points of
// cells are left out if they are far from all targets and from the borders of the cell.
class HeavyCells {
 public:
  explicit HeavyCells(const HeavyCase& given) : given_(given) {
    for (const CellRun& run : given.runs) {
      before_.push_back(total_);
      total_ += run.count;
    }
    begin_rank_ = rank_at(given.interval.begin);
    records_ = rank_at(given.interval.end) - begin_rank_;
    for (const double target : given.targets) {
      quantiles_.push_back(target / static_cast<double>(records_));
    }
    make_points();
  }

  const Quantiles& quantiles() const { return quantiles_; }

  std::map<Labels, Real> law() const {
    std::map<Labels, Real> law;
    Real total = 0;
    Labels labels(quantiles_.size());
    const auto add = [&](const std::vector<std::size_t>& tuple, Real weight) {
      for (std::size_t k = 0; k < tuple.size(); ++k) labels[k] = points_[tuple[k]].cell;
      law[labels] += weight;
      total += weight;
    };
    JointTuples(points_, records_, JointDeparture(quantiles_, given_.epsilon), quantiles_.size(),
                add)
        .visit_all();
    for (auto& [outcome, probability] : law) probability /= total;
    return law;
  }

  // The part of the interval in which a position lies: a gap or a cell. Positions of a cell are
  // told apart near its ends and by whether they are below the first or above the last target.
  std::uint32_t label(Position position) const {
    constexpr std::uint32_t kLabels = 16;
    const std::size_t run = run_from(position);
    const auto part = static_cast<std::uint32_t>(2 * run * kLabels);
    if (run == given_.runs.size() || cell_at(position) < given_.runs[run].cell) return part;
    const Position offset = position % kCellPositions;
    const Position left = kCellPositions - 1 - offset;
    const std::uint32_t cell = part + kLabels;
    if (offset < 4) return cell + static_cast<std::uint32_t>(offset);
    if (left < 4) return cell + 15 - static_cast<std::uint32_t>(left);
    const double rank = static_cast<double>(rank_at(position) - begin_rank_);
    return cell + (rank < given_.targets.front() ? 4 : rank > given_.targets.back() ? 6 : 5);
  }

 private:
  std::size_t run_from(Position position) const {
    std::size_t run = 0;
    while (run < given_.runs.size() && given_.runs[run].cell < cell_at(position)) ++run;
    return run;
  }

  Real rank_at(Position position) const {
    const std::size_t run = run_from(position);
    if (run == given_.runs.size()) return total_;
    if (cell_at(position) < given_.runs[run].cell) return before_[run];
    return before_[run] + slope(run) * static_cast<Real>(position % kCellPositions);
  }
  Real slope(std::size_t run) const {
    return static_cast<Real>(given_.runs[run].count) / static_cast<Real>(kCellPositions);
  }

  void make_points() {
    Position next = given_.interval.begin;
    for (std::size_t run = 0; run < given_.runs.size(); ++run) {
      const Position cell = cell_start(given_.runs[run].cell);
      const Position begin = std::max(cell, given_.interval.begin);
      const Position end = std::min(cell + kCellPositions, given_.interval.end);
      if (begin >= end) continue;
      if (next < begin) add_point(next, begin);
      add_points_of_cell(run, begin, end);
      next = end;
    }
    if (next < given_.interval.end) add_point(next, given_.interval.end);
  }

  void add_points_of_cell(std::size_t run, Position begin, Position end) {
    const Real unit = 2 / static_cast<Real>(given_.epsilon);  // about 1 / lambda
    Real steepest = 0;
    for (std::size_t i = 0; i < given_.runs.size(); ++i) steepest = std::max(steepest, slope(i));
    const Real reach = (18 * unit + 2 * steepest) / slope(run);
    const auto together = static_cast<Position>(std::max(Real{1}, unit * 0.35L / slope(run)));
    for (Position p = begin; p < end; p += together) {
      p = next_near_a_target(p, end, slope(run), reach);
      if (p < end) add_point(p, std::min(p + together, end));
    }
  }

  // The first of the positions p .. end - 1 of a cell that is at most `reach` positions from one
  // with the rank of a target, or `end`.
  Position next_near_a_target(Position p, Position end, Real slope, Real reach) const {
    Position next = end;
    for (const double target : given_.targets) {
      const Real distance = (static_cast<Real>(target) + begin_rank_ - rank_at(p)) / slope;
      if (distance < -reach || distance - reach > static_cast<Real>(end - p)) continue;
      next = std::min(next, p + static_cast<Position>(std::max(distance - reach, Real{0})));
    }
    return next;
  }

  void add_point(Position begin, Position end) {
    const auto positions = static_cast<Real>(end - begin);
    const auto all = static_cast<Real>(given_.interval.end - given_.interval.begin);
    const Real rank = (rank_at(begin) + rank_at(end - 1)) / 2 - begin_rank_;
    points_.push_back({label(begin + (end - begin) / 2), 0, rank, positions / all});
  }

  const HeavyCase& given_;
  std::vector<Real> before_;
  Real total_ = 0;
  Real begin_rank_ = 0;
  Real records_ = 0;
  Quantiles quantiles_;
  std::vector<JointPoint> points_;
};

class JointDrawOfHeavyCells : public ::testing::TestWithParam<HeavyCase> {};

TEST_P(JointDrawOfHeavyCells, EqualsTheSumOverAllPositions) {
  const HeavyCase& given = GetParam();
  const HeavyCells cells(given);
  CsprngSource source;
  const TestContext context(source, none_left);
  const CellRuns runs = encoded(given.runs);
  const Histogram data(given.runs.size(), given.runs.size(), CellRunsReader(runs), context);
  const SmearedRank rank(data);
  std::vector<Position> positions(given.targets.size());
  const auto draw = [&] {
    checks_left = 2000;  // a draw that never ends is cancelled
    draw_joint_positions(rank, given.interval, cells.quantiles(), given.epsilon, context,
                         positions);
    Labels labels;
    for (const Position position : positions) labels.push_back(cells.label(position));
    return labels;
  };
  EXPECT_GT(p_value(cells.law(), given.draws, draw), kFalseAlarm);
}

// Both cells have many records, and most of the weight is where all quantiles lie in the gap
// between them, far from their ranks.
constexpr PositionInterval kAll{0, cell_start(kManyCells)};

INSTANTIATE_TEST_SUITE_P(TiesAtBothEnds, JointDrawOfHeavyCells,
                         ::testing::Values(HeavyCase{"HighQuantiles",
                                                     {{0, 49'000'000}, {kTop, 1'000'000}},
                                                     kAll,
                                                     {49'000'198, 49'000'199, 49'000'200},
                                                     1,
                                                     3000},
                                           HeavyCase{"LowQuantiles",
                                                     {{0, 1'000'000}, {kTop, 49'000'000}},
                                                     kAll,
                                                     {999'800, 999'801, 999'802},
                                                     1,
                                                     3000}),
                         case_name);

// So many of the last positions of cell 0, the cells in between, and so many of the first ones of
// the cell `last`: what a level of the recursion may leave to the next.
constexpr PositionInterval inside(Position of_first, std::uint64_t last, Position of_last) {
  return {kCellPositions - of_first, cell_start(last) + of_last};
}

// lambda times the records at a position is 3 in the cases of 100 million records: there a draw in
// doubles and one in wider numbers are equally likely. In the others it is 6 to 130.
INSTANTIATE_TEST_SUITE_P(
    InsideCells, JointDrawOfHeavyCells,
    ::testing::Values(
        HeavyCase{"Two", {{0, 100'000'000}, {1, 90'000'000}}, inside(4, 1, 4), {10, 30}, 1, 1500},
        HeavyCase{"Four",
                  {{0, 100'000'000}, {1, 90'000'000}},
                  inside(4, 1, 4),
                  {10, 30, 32, 35},
                  1,
                  1500},
        HeavyCase{"Five",
                  {{0, 100'000'000}, {1, 90'000'000}},
                  inside(3, 1, 3),
                  {10, 11, 25, 27, 30},
                  1,
                  500},
        HeavyCase{"TwoAroundACell",
                  {{0, 100'000'000}, {1, 2}, {3, 90'000'000}},
                  inside(4, 3, 4),
                  {10, 30},
                  1,
                  1500},
        HeavyCase{
            "TwoHeavier", {{0, 200'000'000}, {1, 180'000'000}}, inside(4, 1, 4), {25, 65}, 1, 500},
        HeavyCase{"FourHeavier",
                  {{0, 200'000'000}, {1, 180'000'000}},
                  inside(4, 1, 4),
                  {20, 60, 64, 70},
                  1,
                  500},
        HeavyCase{"FiveHeavier",
                  {{0, 270'000'000}, {1, 216'000'000}},
                  inside(4, 1, 4),
                  {14.5, 22.5, 22.6, 83, 102},
                  1,
                  500},
        HeavyCase{
            "ThreeHeaviest", {{0, 500'000'000}, {1, 2}}, inside(3, 2, 0), {10, 75.5, 75.6}, 8, 500},
        HeavyCase{"ThreeHeaviestAroundACell",
                  {{0, 270'000'000}, {1, 2}, {3, 260'000'000}},
                  inside(3, 3, 3),
                  {27, 51, 53},
                  16,
                  300}),
    case_name);

}  // namespace
}  // namespace dpquantile
