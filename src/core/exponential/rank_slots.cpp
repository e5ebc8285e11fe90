#include "core/exponential/rank_slots.hpp"

#include <algorithm>
#include <cmath>

namespace dpquantile {

namespace {

// Distances to the nearest target, for ranks that only ascend.
class AscendingDistance {
 public:
  explicit AscendingDistance(const SlotWidths& widths) : widths_(widths) {}

  double to(double rank) {
    const std::span<const double> targets = widths_.targets;
    while (above_ < targets.size() && targets[above_] < rank) ++above_;
    double distance = HUGE_VAL;
    if (above_ < targets.size()) distance = widths_.distance(above_, rank);
    if (above_ > 0) distance = std::min(distance, widths_.distance(above_ - 1, rank));
    return distance;
  }

 private:
  const SlotWidths& widths_;
  std::size_t above_ = 0;  // the first target that is not below the last rank
};

// A position, the first run whose cell is at or after the position's, and the rank.
struct Place {
  Position position;
  std::size_t run;
  ScaledRank rank;
};

class SlotCutter {
 public:
  SlotCutter(const SmearedRank& rank, PositionInterval interval, const SlotWidths& widths)
      : rank_(rank), data_(rank.data()), interval_(interval), widths_(widths) {}

  Place begin() const { return place(interval_.begin, 0); }

  // The last position of a slot that begins at `first` and spans ranks of at most `width` records.
  // border() tells of the slot after it.
  Place last_of(const Place& first, double width) {
    constexpr double kMost = 0x1p60;
    border_ = 0;
    const ScaledRank limit = first.rank + static_cast<ScaledRank>(std::min(
                                              width * static_cast<double>(kCellPositions), kMost));
    const Place last = last_within(limit, first.run);
    if (!widths_.keeps_heavy_apart() || first.run == data_.runs()) return last;
    const bool begins_in_cell = data_.cell(first.run) == cell_at(first.position);
    if (begins_in_cell && is_heavy(first.run, width)) {
      const Position last_of_cell = cell_start(data_.cell(first.run)) + (kCellPositions - 1);
      if (last.position <= last_of_cell) return last;
      border_ = records(first.run);
      return place(last_of_cell, first.run);
    }
    if (last.run == data_.runs()) return last;
    const Position begin_of_cell = cell_start(data_.cell(last.run));
    if (begin_of_cell <= first.position || begin_of_cell > last.position ||
        !is_heavy(last.run, width)) {
      return last;
    }
    border_ = records(last.run);
    return place(begin_of_cell - 1, first.run);
  }

  double border() const { return border_; }

  // The place after `last`.
  Place after(const Place& last) const {
    const Position next = last.position + 1;
    const bool has_run = last.run < data_.runs();
    const bool in_cell = has_run && data_.cell(last.run) == cell_at(last.position);
    if (!in_cell) return {next, last.run, last.rank};
    return {next, last.run + (cell_at(next) > data_.cell(last.run) ? 1 : 0),
            last.rank + rank_.slope(last.run)};
  }

 private:
  double records(std::size_t run) const { return static_cast<double>(data_.count(run)); }
  bool is_heavy(std::size_t run, double width) const { return records(run) > width; }

  // For a position with a first run of at least `from`.
  Place place(Position position, std::size_t from) const {
    const std::size_t run = data_.first_run_from(cell_at(position), from);
    return {position, run, rank_.at(position, run)};
  }

  // The last position of the interval with a rank of at most `limit`, given that a position before
  // run `from` or in its cell has such a rank.
  Place last_within(ScaledRank limit, std::size_t from) const {
    const std::size_t beyond = rank_.first_run_beyond(limit, from);
    const ScaledRank before_run = beyond > 0 ? rank_.before(beyond - 1) : 0;
    const ScaledRank before_beyond = rank_.before(beyond);
    if (beyond > 0 && before_beyond > limit) {
      const std::size_t run = beyond - 1;
      const auto slope = static_cast<ScaledRank>((before_beyond - before_run) >> kPositionBits);
      const ScaledRank inside = slope == 1 ? limit - before_run : (limit - before_run) / slope;
      const Position position = cell_start(data_.cell(run)) + static_cast<Position>(inside);
      if (position < interval_.end) return {position, run, before_run + slope * inside};
    }
    return place(interval_.end - 1, from);
  }

  const SmearedRank& rank_;
  const Histogram& data_;
  PositionInterval interval_;
  const SlotWidths& widths_;
  double border_ = 0;
};

}  // namespace

std::pmr::vector<RankSlot> cut_into_slots(const SmearedRank& rank, PositionInterval interval,
                                          const SlotWidths& widths, const Workspace& work) {
  constexpr std::size_t kUsual = 64;
  std::pmr::vector<RankSlot> slots(work.memory);
  slots.reserve(kUsual);
  SlotCutter cutter(rank, interval, widths);
  AscendingDistance distances(widths);
  Place first = cutter.begin();
  const ScaledRank begin = first.rank;
  const double positions = static_cast<double>(interval.end - interval.begin);
  double border = 0;
  while (first.position < interval.end) {
    work.cancel.tick();
    const double low = in_records(first.rank - begin);
    const double distance = distances.to(low);
    const Place last = cutter.last_of(first, widths.at(distance));
    const double high = in_records(last.rank - begin);
    // If low is farther than `farthest`, no target lies between low and high: the slot is narrower.
    const double nearest = std::min(distance, distances.to(high));
    if (nearest <= widths.farthest) {
      slots.push_back({{first.position, last.position + 1},
                       (low + high) / 2,
                       (high - low) / 2,
                       static_cast<double>(last.position + 1 - first.position) / positions,
                       first.run,
                       border});
    }
    border = cutter.border();
    first = cutter.after(last);
  }
  return slots;
}

}  // namespace dpquantile
