#include "core/exponential/joint_chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/exponential/joint_utility.hpp"
#include "core/exponential/rank.hpp"
#include "core/exponential/rank_slots.hpp"
#include "support/cell_runs_testing.hpp"
#include "support/context_testing.hpp"

// threat 119: no position is left out that has a part of the weight. Data and positions are fixed,
// so that these tests give no false alarms.
namespace dpquantile {
namespace {

using test::encoded;
using test::heap;
using test::Runs;
using test::TestWorkspace;

using Quantiles = std::vector<double>;

// The least of |x - q s| + |n - x - (1 - q) s| over s. It is convex and bends at two points.
double least_sum(double x, double q, double n) {
  double least = std::numeric_limits<double>::infinity();
  for (const double s : {x / q, (n - x) / (1 - q)}) {
    if (std::isfinite(s))
      least = std::min(least, std::abs(x - q * s) + std::abs(n - x - (1 - q) * s));
  }
  return least;
}

TEST(SlotsWithinALimit, AreThoseWhoseRanksHaveAnAllowedSumForSomeS) {
  constexpr std::size_t kRecords = 300;
  std::vector<RankSlot> slots;
  for (std::size_t rank = 0; rank <= kRecords; ++rank) {
    slots.push_back({{rank, rank + 1}, static_cast<double>(rank), 0, 1});
  }
  for (const double q : {0.0, 0.003, 0.02, 0.25, 0.4999, 0.5, 0.7, 0.98, 0.999, 1.0}) {
    for (const double limit : {0.511, 3.313, 40.717, 170.919}) {
      const auto window = slots_within(slots, q, kRecords, limit);
      for (const RankSlot& slot : slots) {
        const bool expected = least_sum(slot.middle, q, kRecords) <= limit;
        const bool has = !window.empty() && window.front().middle <= slot.middle &&
                         slot.middle <= window.back().middle;
        EXPECT_EQ(has, expected) << "rank " << slot.middle << ", q " << q << ", limit " << limit;
      }
    }
  }
}

// --- Positions within the limit ------------------------------------------------------------------

// Data with heavy cells, an interval that may begin or end inside one, quantiles, and lambda.
struct Shape {
  Runs runs;
  std::uint64_t cells;
  PositionInterval interval;
  Quantiles quantiles;
  double lambda;
};

class RandomShapes {
 public:
  Shape next() {
    Shape shape{{}, random_() % 2 == 0 ? std::uint64_t{1} << 32 : 1'048'577, {}, {}, 0};
    shape.lambda = std::exp(uniform(-3, 2));
    std::vector<std::uint64_t> cells = {0, shape.cells - 1};
    for (std::uint64_t more = random_() % 4; more > 0; --more) cells.push_back(cell_of(shape));
    const std::size_t heavy = cells.size();
    if (random_() % 2 == 0) {
      for (std::uint64_t more = random_() % 60; more > 0; --more) cells.push_back(cell_of(shape));
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double ties = i < heavy ? std::exp(uniform(0, std::log(3000 / shape.lambda + 2))) : 0;
      shape.runs.push_back(
          {static_cast<std::uint32_t>(cells[i]), 1 + static_cast<std::uint32_t>(ties)});
    }
    std::ranges::sort(shape.runs, {}, &CellRun::cell);
    const auto [first, last] = std::ranges::unique(shape.runs, {}, &CellRun::cell);
    shape.runs.erase(first, last);
    shape.interval = {0, cell_start(shape.cells)};
    // A few positions of the first or last cell.
    if (random_() % 3 == 0) shape.interval.begin = kCellPositions - 1 - random_() % 3;
    if (random_() % 3 == 0) shape.interval.end -= kCellPositions - 1 - random_() % 3;
    choose_quantiles(shape);
    return shape;
  }

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

 private:
  std::uint64_t cell_of(const Shape& shape) {
    return random_() % 3 == 0 ? random_() % 5 : random_() % shape.cells;
  }

  // Spread, near 0, near 1, or near the borders of cells.
  void choose_quantiles(Shape& shape) {
    std::vector<double> borders = {0};
    for (const CellRun& run : shape.runs) borders.push_back(borders.back() + run.count);
    const std::uint64_t kind = random_() % 4;
    const double small = std::exp(uniform(-7, 0));
    const std::size_t count = 2 + random_() % 3;
    while (shape.quantiles.size() < count) {
      const double border = borders[random_() % borders.size()] + uniform(-60, 60) / shape.lambda;
      const double q = kind == 0   ? uniform(0, 1)
                       : kind == 1 ? small * uniform(0, 1)
                       : kind == 2 ? 1 - small * uniform(0, 1)
                                   : border / borders.back() + uniform(0, 1e-9);
      if (q >= 0 && q <= 1) shape.quantiles.push_back(q);
    }
    std::ranges::sort(shape.quantiles);
  }

  std::mt19937_64 random_{5};
};

// The slots that the program for few quantiles cuts for a limit.
class CutSlots {
 public:
  explicit CutSlots(const Shape& shape)
      : shape_(shape),
        records_(encoded(shape.runs)),
        histogram_(shape.runs.size(), shape.runs.size(), CellRunsReader(records_), work_),
        utility_(shape.quantiles, shape.lambda, heap()) {}
  CutSlots(const CutSlots&) = delete;
  CutSlots& operator=(const CutSlots&) = delete;

  double records() const { return rank_at(shape_.interval.end); }
  double rank_at(Position position) const {
    return in_records(rank_.at(position) - rank_.at(shape_.interval.begin));
  }
  const JointUtility& utility() const { return utility_; }

  // The last position with a rank of at most `rank`, or the one before or after.
  Position near(double rank, std::uint64_t which) const {
    const auto [begin, end] = shape_.interval;
    const ScaledRank scaled =
        rank_.at(begin) + static_cast<ScaledRank>(std::ldexp(std::clamp(rank, 0.0, records()), 24));
    const Position position = std::min(rank_.last_within(scaled), end - 1) + which;
    return std::clamp(std::max(position, begin + 1) - 1, begin, end - 1);
  }

  std::pmr::vector<RankSlot> cut(double limit) const {
    const auto b = static_cast<double>(shape_.quantiles.size());
    std::vector<double> targets;
    std::vector<RankStretch> cells;
    for (const double q : shape_.quantiles) {
      targets.push_back(q * records());
      cells.push_back(cell_of(targets.back()));
    }
    const SlotWidths widths{.targets = targets,
                            .finest = 1.5 / (shape_.lambda * b),
                            .near = 1 / shape_.lambda,
                            .growth = 0.3,
                            .farthest = limit,
                            .cells = cells};
    return cut_into_slots(rank_, shape_.interval, widths, work_);
  }

 private:
  RankStretch cell_of(double target) const {
    double low = -in_records(rank_.at(shape_.interval.begin));
    for (const CellRun& run : shape_.runs) {
      const double high = low + run.count;
      if (low <= target && target < high) return {std::max(low, 0.0), std::min(high, records())};
      low = high;
    }
    return {target, target};
  }

  const Shape& shape_;
  TestWorkspace work_;
  CellRuns records_;
  Histogram histogram_;
  SmearedRank rank_{histogram_};
  JointUtility utility_;
};

bool contain(std::span<const RankSlot> slots, Position position) {
  return std::ranges::any_of(slots, [&](const RankSlot& slot) {
    return slot.positions.begin <= position && position < slot.positions.end;
  });
}

// Ascending positions with ranks where sums for some s may be small.
std::vector<Position> some_positions(const Shape& shape, const CutSlots& slots, double limit,
                                     RandomShapes& random) {
  const double n = slots.records();
  const double s = n + random.uniform(-limit, limit);
  std::vector<Position> positions;
  for (const double q : shape.quantiles) {
    const CellRun& run = shape.runs[random.below(shape.runs.size())];
    const Position border = std::clamp(cell_start(run.cell) + random.below(2) * kCellPositions,
                                       shape.interval.begin, shape.interval.end - 1);
    const double ranks[] = {q * s, q * n + random.uniform(-1, 1) * limit * std::max(q, 1 - q),
                            slots.rank_at(border)};
    positions.push_back(slots.near(ranks[random.below(3)], random.below(3)));
  }
  std::ranges::sort(positions);
  return positions;
}

// F of JointUtility, over all lattice points that can have the least sum.
double departure_of(const std::vector<Position>& positions, const CutSlots& slots, double limit) {
  std::vector<double> gaps;
  double previous = 0;
  for (const Position position : positions) {
    gaps.push_back(slots.rank_at(position) - previous);
    previous = slots.rank_at(position);
  }
  gaps.push_back(slots.records() - previous);
  const double step = slots.utility().lattice_step();
  double least = std::numeric_limits<double>::infinity();
  for (double i = std::max(std::floor((slots.records() - limit) / step), 0.0);
       i * step <= slots.records() + limit; ++i) {
    least = std::min(least, slots.utility().departure(gaps, i * step));
  }
  return least;
}

// The windows once ended at half the limit on one side of each quantile. Positions beyond had most
// of the weight where many records are equal.
TEST(JointWindows, HoldAllPositionsWithinTheLimit) {
  RandomShapes shapes;
  int within = 0;
  for (int round = 0; round < 300; ++round) {
    const Shape shape = shapes.next();
    const CutSlots slots(shape);
    const double limit = std::exp(shapes.uniform(std::log(20), std::log(250))) / shape.lambda;
    const std::pmr::vector<RankSlot> cut = slots.cut(limit);
    for (int i = 0; i < 30; ++i) {
      const std::vector<Position> positions = some_positions(shape, slots, limit, shapes);
      if (departure_of(positions, slots, limit) > limit * (1 - 1e-9)) continue;
      ++within;
      for (std::size_t k = 0; k < positions.size(); ++k) {
        const double q = shape.quantiles[k];
        ASSERT_TRUE(contain(slots_within(cut, q, slots.records(), limit), positions[k]))
            << "round " << round << ", quantile " << q << ", rank " << slots.rank_at(positions[k])
            << " of " << slots.records() << ", limit " << limit;
      }
    }
  }
  EXPECT_GT(within, 1000);
}

}  // namespace
}  // namespace dpquantile
