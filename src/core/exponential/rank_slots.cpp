#include "core/exponential/rank_slots.hpp"

#include <algorithm>
#include <cmath>

namespace dpquantile {

namespace {

// The last position of the interval with a rank of at most `limit`, given that the first one has.
Position last_within(const SmearedRank& rank, PositionInterval interval, ScaledRank limit) {
  const std::size_t beyond = rank.first_run_beyond(limit);
  if (beyond == 0 || rank.before(beyond) <= limit) return interval.end - 1;
  const std::size_t run = beyond - 1;
  const auto inside = static_cast<Position>((limit - rank.before(run)) / rank.slope(run));
  return std::min(interval.end - 1, cell_start(rank.data().cell(run)) + inside);
}

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
  const ScaledRank begin = rank.at(interval.begin);
  const double positions = static_cast<double>(interval.end - interval.begin);
  for (Position first = interval.begin; first < interval.end;) {
    work.cancel.tick();
    const ScaledRank low = rank.at(first);
    const double distance = distance_to_nearest(widths.targets, in_records(low - begin));
    const double width = std::max(widths.finest, (distance - widths.near) * widths.growth);
    const double most = std::ldexp(1.0, 60);
    const auto reach =
        static_cast<ScaledRank>(std::min(std::ldexp(width, int{kPositionBits}), most));
    const Position last = last_within(rank, {first, interval.end}, low + reach);
    const ScaledRank high = rank.at(last);
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
