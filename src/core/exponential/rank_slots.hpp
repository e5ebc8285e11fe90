#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/workspace.hpp"
#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/rank.hpp"

namespace dpquantile {

// Consecutive positions over which the rank hardly grows. Ranks are in records, counted from the
// beginning of the interval.
struct RankSlot {
  PositionInterval positions;
  double middle;      // of the ranks of its positions
  double half_range;  // the most by which a position's rank differs from the middle
  double measure;     // the fraction of the interval's positions that the slot holds
  // The first run of the histogram that is not before the slot.
  std::size_t first_run = 0;
  // If a heavy cell begins or ends where the slot begins, the number of its records; otherwise 0.
  double border = 0;
};

// A stretch of ranks, in records.
struct RankStretch {
  double low;
  double high;

  bool has(double rank) const { return low <= rank && rank <= high; }
};

// How finely an interval is cut into slots. Widths and distances are in records. `targets` are
// ranks, ascending. A slot that begins at distance d from the nearest target spans ranks of at most
// max(finest, (d - near) * growth), growth < 1. A slot is left out if both its ends are farther
// than `farthest` from all targets.
//
// `cells` may have a stretch for each target: the ranks of the cell in which the target lies, or
// the target alone if the cell has few records. Then distances outside it are those to the cell,
// because a draw that misses a small cell with many records falls beside it. And no slot reaches
// into or out of a *heavy* cell, one with more records than the slot may span. So the long empty
// stretches beside such a cell, which hold most positions, have slots with hardly any other ranks.
struct SlotWidths {
  std::span<const double> targets;
  double finest;
  double near;
  double growth;
  double farthest;
  std::span<const RankStretch> cells = {};

  bool keeps_heavy_apart() const { return !cells.empty(); }

  // The most ranks that a slot may span at this distance.
  double at(double distance) const { return std::max(finest, (distance - near) * growth); }

  // The distance of a rank from a target, by its number.
  double distance(std::size_t target, double rank) const {
    const double direct = std::abs(rank - targets[target]);
    if (!keeps_heavy_apart() || cells[target].has(rank)) return direct;
    return rank < cells[target].low ? cells[target].low - rank : rank - cells[target].high;
  }
};

// Cuts an interval into slots, in order. The number of slots grows with the logarithm of the number
// of records. Throws Cancelled.
//
// Privacy: internal to a mechanism. Neither the cut nor the number of slots may be released.
std::pmr::vector<RankSlot> cut_into_slots(const SmearedRank& rank, PositionInterval interval,
                                          const SlotWidths& widths, const Workspace& work);

}  // namespace dpquantile
