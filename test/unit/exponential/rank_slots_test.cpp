#include "core/exponential/rank_slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <numeric>
#include <random>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/exponential/rank.hpp"
#include "support/context_testing.hpp"
#include "support/dataset.hpp"
#include "support/quantiles_sampler.hpp"

namespace dpquantile {
namespace {

using test::Dataset;
using test::histogram_of;
using test::TestWorkspace;

constexpr double kEverything = 1e300;

// Slots of a data set, with checks of their properties.
class Slots {
 public:
  Slots(const Dataset& data, PositionInterval interval, std::vector<double> targets, double finest,
        double near, double growth = 0.2, double farthest = kEverything)
      : histogram_(histogram_of(data)),
        interval_(interval),
        targets_(std::move(targets)),
        widths_{targets_, finest, near, growth, farthest} {
    const auto slots = cut_into_slots(rank_, interval, widths_, TestWorkspace());
    slots_.assign(slots.begin(), slots.end());
  }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  const std::vector<RankSlot>& all() const { return slots_; }
  std::size_t size() const { return slots_.size(); }

  double rank(Position position) const {
    return in_records(rank_.at(position) - rank_.at(interval_.begin));
  }
  double distance(double rank) const {
    double least = kEverything;
    for (const double target : targets_) least = std::min(least, std::abs(rank - target));
    return least;
  }

  void expect_cover() const {
    Position next = interval_.begin;
    double measure = 0;
    for (const RankSlot& slot : slots_) {
      ASSERT_EQ(slot.positions.begin, next);
      ASSERT_LT(slot.positions.begin, slot.positions.end);
      next = slot.positions.end;
      ASSERT_DOUBLE_EQ(slot.measure,
                       static_cast<double>(slot.positions.end - slot.positions.begin) /
                           static_cast<double>(interval_.end - interval_.begin));
      measure += slot.measure;
    }
    ASSERT_EQ(next, interval_.end);
    ASSERT_NEAR(measure, 1, 1e-9);
  }

  void expect_ranks_in_range() {
    double previous = 0;
    for (const RankSlot& slot : slots_) {
      std::vector<Position> sample = {slot.positions.begin, slot.positions.end - 1};
      for (int i = 0; i < 20; ++i) {
        sample.push_back(slot.positions.begin +
                         random_() % (slot.positions.end - slot.positions.begin));
      }
      for (const Position position : sample) {
        ASSERT_LE(std::abs(rank(position) - slot.middle), slot.half_range * (1 + 1e-12));
      }
      // The range is no larger than needed, and slots ascend.
      ASSERT_DOUBLE_EQ(2 * slot.half_range,
                       rank(slot.positions.end - 1) - rank(slot.positions.begin));
      ASSERT_GE(slot.middle, previous);
      previous = slot.middle;
    }
  }

  // A slot is no wider than its first rank's distance to the targets allows, and not much narrower.
  void expect_widths() const {
    for (const RankSlot& slot : slots_) {
      const double low = rank(slot.positions.begin);
      const double width =
          std::max(widths_.finest, (distance(low) - widths_.near) * widths_.growth);
      ASSERT_LE(rank(slot.positions.end - 1) - low, width);
      if (slot.positions.end < interval_.end) {
        ASSERT_GT(rank(slot.positions.end) - low, width - 1e-7);
      }
    }
  }

  void expect_sound() {
    expect_cover();
    expect_ranks_in_range();
    expect_widths();
  }

 private:
  Histogram histogram_;
  SmearedRank rank_{histogram_};
  PositionInterval interval_;
  std::vector<double> targets_;
  SlotWidths widths_;
  std::vector<RankSlot> slots_;
  std::mt19937_64 random_{7};
};

PositionInterval whole(const Dataset& data) {
  return {0, cell_start(data.cells)};
}

Dataset evenly_spread(std::uint32_t records) {
  Dataset data{records, std::vector<std::uint32_t>(records)};
  std::iota(data.records.begin(), data.records.end(), 0U);
  return data;
}

TEST(RankSlots, CutAnIntervalByRank) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    Dataset data{1 + random() % 30, {}};
    const std::size_t records = as_size(random() % 60);
    while (data.records.size() < records) {
      data.records.push_back(static_cast<std::uint32_t>(random() % data.cells));
    }
    const Position end = 1 + random() % cell_start(data.cells);
    const Position begin = random() % end;
    const auto n = static_cast<double>(records);
    Slots slots(data, {begin, end}, {0.2 * n, 0.5 * n}, 0.3 + static_cast<double>(round % 7), 2);
    slots.expect_sound();
  }
}

TEST(RankSlots, AreOneSlotWithoutRecords) {
  Slots slots({10, {}}, whole({10, {}}), {0, 0, 0}, 1, 1);
  slots.expect_sound();
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots.all()[0].middle, 0);
  EXPECT_EQ(slots.all()[0].half_range, 0);
  EXPECT_EQ(slots.all()[0].measure, 1);
}

TEST(RankSlots, DivideAHeavyCell) {
  const Dataset data{3, std::vector<std::uint32_t>(1000, 1)};
  Slots slots(data, whole(data), {250, 500, 750}, 10, 1000);
  slots.expect_sound();
  EXPECT_GE(slots.size(), 100U);
  EXPECT_LE(slots.size(), 102U);
}

// More records lie on a position than a slot may span.
TEST(RankSlots, AreSinglePositionsWhereRanksJump) {
  const Dataset data{1, std::vector<std::uint32_t>(1000, 0)};
  const PositionInterval interval{1000, 1016};
  Slots slots(data, interval, {0.0005}, 1000 / 16777216.0 / 2, 1);
  slots.expect_sound();
  EXPECT_EQ(slots.size(), 16U);
}

TEST(RankSlots, AreOneSlotForOnePosition) {
  const Dataset data{2, {0, 0, 1}};
  Slots slots(data, {5, 6}, {0}, 1, 1);
  slots.expect_sound();
  EXPECT_EQ(slots.size(), 1U);
}

TEST(RankSlots, ExtendAcrossGaps) {
  const Dataset data{100, {0, 99}};
  Slots slots(data, whole(data), {1}, 10, 10);
  slots.expect_sound();
  EXPECT_EQ(slots.size(), 1U);
}

TEST(RankSlots, GrowInNumberWithTheLogarithmOfTheRecords) {
  std::vector<std::size_t> numbers;
  for (const std::uint32_t records : {1'000U, 10'000U, 100'000U, 1'000'000U}) {
    const Dataset data = evenly_spread(records);
    Slots slots(data, whole(data), {records * 0.5}, 5, 10);
    slots.expect_cover();
    slots.expect_widths();
    numbers.push_back(slots.size());
  }
  // A factor 10 takes ln(10) / ln(6/5) = 12.6 slots below the target, and as many above it.
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    EXPECT_GE(numbers[i] - numbers[i - 1], 20U);
    EXPECT_LE(numbers[i] - numbers[i - 1], 30U);
  }
}

TEST(RankSlots, LeaveOutRanksFarFromAllTargets) {
  const Dataset data = evenly_spread(10'000);
  const double farthest = 500;
  Slots slots(data, whole(data), {2000, 2100, 9900}, 5, 10, 0.1, farthest);
  slots.expect_ranks_in_range();
  slots.expect_widths();
  std::size_t next = 0;
  for (Position position = 0; position < cell_start(10'000); position += kCellPositions / 3) {
    while (next < slots.size() && slots.all()[next].positions.end <= position) ++next;
    const bool covered = next < slots.size() && slots.all()[next].positions.begin <= position;
    const double distance = slots.distance(slots.rank(position));
    if (distance <= farthest) {
      ASSERT_TRUE(covered) << slots.rank(position);
    }
    if (distance > 1.2 * farthest) {
      ASSERT_FALSE(covered) << slots.rank(position);
    }
  }
}

// --- Heavy cells ---------------------------------------------------------------------------------

// Slots for one target, with the ranks of its cell.
std::vector<RankSlot> slots_with_cell(const Dataset& data, double target, const RankStretch& cell,
                                      double finest) {
  const Histogram histogram = histogram_of(data);
  const SmearedRank rank(histogram);
  const std::vector<double> targets = {target};
  const std::vector<RankStretch> cells = {cell};
  const SlotWidths widths{targets, finest, 2, 0.25, kEverything, cells};
  const auto slots = cut_into_slots(rank, whole(data), widths, TestWorkspace());
  return {slots.begin(), slots.end()};
}

TEST(RankSlots, KeepHeavyCellsApart) {
  Dataset data{1000, std::vector<std::uint32_t>(100, 500)};
  data.records.push_back(200);
  const std::vector<RankSlot> slots = slots_with_cell(data, 51, {1, 101}, 3);
  // All positions before the heavy cell, about its light record, and those behind it.
  ASSERT_GE(slots.size(), 15U);
  EXPECT_EQ(slots.front().positions.end, cell_start(500));
  EXPECT_EQ(slots.front().half_range, 0.5);
  EXPECT_EQ(slots[1].border, 100);
  EXPECT_EQ(slots.back().positions.begin, cell_start(501));
  EXPECT_EQ(slots.back().half_range, 0);
  EXPECT_EQ(slots.back().border, 100);
  EXPECT_EQ(slots.back().first_run, 2U);
  for (std::size_t i = 1; i < slots.size(); ++i) {
    EXPECT_EQ(slots[i].positions.begin, slots[i - 1].positions.end);
    if (i > 1 && i + 1 < slots.size()) {
      EXPECT_EQ(slots[i].border, 0);
      EXPECT_EQ(slots[i].first_run, 1U);
    }
  }
}

TEST(RankSlots, JoinCellsThatAreNoHeavierThanASlot) {
  const std::vector<RankSlot> slots =
      slots_with_cell({1000, {200, 500, 500, 500, 800}}, 2, {1, 4}, 6);
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots[0].border, 0);
}

// Just outside the target's cell slots are as fine as at the target.
TEST(RankSlots, AreFineBesideTheCellOfATarget) {
  Dataset data = evenly_spread(1000);
  data.records.insert(data.records.end(), 400, 500);
  const std::vector<RankSlot> slots = slots_with_cell(data, 700, {500, 901}, 3);
  for (const RankSlot& slot : slots) {
    const double low = slot.middle - slot.half_range;
    const double distance = low < 500 ? 500 - low : low > 901 ? low - 901 : std::abs(low - 700);
    EXPECT_LE(2 * slot.half_range, std::max(3.0, (distance - 2) * 0.25) + 1e-6) << low;
  }
}

TEST(RankSlots, ThrowWhenMemoryRunsOut) {
  const Histogram histogram = histogram_of({2, {0, 1}});
  const SmearedRank rank(histogram);
  const std::vector<double> targets = {1};
  EXPECT_THROW(cut_into_slots(rank, {0, cell_start(2)}, {targets, 1, 1, 0.2, kEverything},
                              TestWorkspace(nullptr, std::pmr::null_memory_resource())),
               std::bad_alloc);
}

}  // namespace
}  // namespace dpquantile
