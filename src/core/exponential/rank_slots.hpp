#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/workspace.hpp"
#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/rank.hpp"

namespace dpquantile {

// Consecutive positions between which the rank hardly grows. Ranks are in records, counted from the
// beginning of the interval.
struct RankSlot {
  PositionInterval positions;
  double middle;      // of the ranks of its positions
  double half_range;  // no position's rank is further from the middle
  double measure;     // the part of the interval's positions that it holds
};

// How finely an interval is cut into slots: near the given ranks (ascending) by `finest` records,
// from a distance of `near` on by the part `growth` < 1 of what the distance exceeds `near`.
// Positions whose rank is further than `farthest` from all of them are in no slot.
struct SlotWidths {
  std::span<const double> targets;
  double finest;
  double near;
  double growth;
  double farthest;
};

// Cuts an interval into slots, in order. Their number grows with the logarithm of the records, not
// with them. Internal to a mechanism: neither the cut nor the number of slots may be released.
std::pmr::vector<RankSlot> cut_into_slots(const SmearedRank& rank, PositionInterval interval,
                                          const SlotWidths& widths, const Workspace& work);

}  // namespace dpquantile
