#include "core/exponential/rank_slots.hpp"

#include <algorithm>
#include <cmath>

namespace dpquantile {

namespace {

// Ranks of positions that only ascend.
class AscendingRank {
 public:
  AscendingRank(const SmearedRank& rank, PositionInterval interval)
      : rank_(rank),
        end_(interval.end),
        run_(rank.data().first_run_from(cell_at(interval.begin))) {}

  // The rank at a position that is not before those of earlier calls.
  ScaledRank at(Position position) {
    run_ = rank_.data().first_run_from(cell_at(position), run_);
    return rank_.at(position, run_);
  }

  // The last position of the interval with a rank of at most `limit`, given that the position of
  // the last call of at() has such a rank.
  Position last_within(ScaledRank limit) const {
    const std::size_t beyond = rank_.first_run_beyond(limit, run_);
    if (beyond == 0 || rank_.before(beyond) <= limit) return end_ - 1;
    const std::size_t run = beyond - 1;
    const auto inside = static_cast<Position>((limit - rank_.before(run)) / rank_.slope(run));
    return std::min(end_ - 1, cell_start(rank_.data().cell(run)) + inside);
  }

 private:
  const SmearedRank& rank_;
  Position end_;
  std::size_t run_;  // the first one whose cell is at or after the position
};

double distance_to_nearest(std::span<const double> targets, double rank) {
  const auto above = std::lower_bound(targets.begin(), targets.end(), rank);
  double distance = HUGE_VAL;
  if (above != targets.end()) distance = *above - rank;
  if (above != targets.begin()) distance = std::min(distance, rank - *std::prev(above));
  return distance;
}

}  // namespace

std::pmr::vector<RankSlot> cut_into_slots(const SmearedRank& rank, PositionInterval interval,
                                          const SlotWidths& widths, const Workspace& work) {
  std::pmr::vector<RankSlot> slots(work.memory);
  AscendingRank ranks(rank, interval);
  const ScaledRank begin = ranks.at(interval.begin);
  const double positions = static_cast<double>(interval.end - interval.begin);
  for (Position first = interval.begin; first < interval.end;) {
    work.cancel.tick();
    const ScaledRank low = ranks.at(first);
    const double distance = distance_to_nearest(widths.targets, in_records(low - begin));
    const double width = std::max(widths.finest, (distance - widths.near) * widths.growth);
    const double most = std::ldexp(1.0, 60);
    const auto reach =
        static_cast<ScaledRank>(std::min(width * static_cast<double>(kCellPositions), most));
    const Position last = ranks.last_within(low + reach);
    const ScaledRank high = ranks.at(last);
    // If low is farther than `farthest`, no target lies between low and high: the slot is narrower.
    const double nearest =
        std::min(distance, distance_to_nearest(widths.targets, in_records(high - begin)));
    if (nearest <= widths.farthest) {
      slots.push_back({{first, last + 1},
                       (in_records(low - begin) + in_records(high - begin)) / 2,
                       in_records(high - low) / 2,
                       static_cast<double>(last + 1 - first) / positions});
    }
    first = last + 1;
  }
  return slots;
}

}  // namespace dpquantile
