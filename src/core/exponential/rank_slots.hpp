#pragma once

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
};

// How finely an interval is cut into slots. Widths and distances are in records. `targets` are
// ranks, ascending. A slot that begins at distance d from the nearest target spans ranks of at most
// max(finest, (d - near) * growth), growth < 1. A slot is left out if both its ends are farther
// than `farthest` from all targets.
struct SlotWidths {
  std::span<const double> targets;
  double finest;
  double near;
  double growth;
  double farthest;
};

// Cuts an interval into slots, in order. The number of slots grows with the logarithm of the number
// of records. Throws Cancelled.
//
// Privacy: internal to a mechanism. Neither the cut nor the number of slots may be released.
std::pmr::vector<RankSlot> cut_into_slots(const SmearedRank& rank, PositionInterval interval,
                                          const SlotWidths& widths, const Workspace& work);

}  // namespace dpquantile
