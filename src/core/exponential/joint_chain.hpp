#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/cancel.hpp"
#include "core/exponential/joint_utility.hpp"
#include "core/exponential/rank_slots.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// The slots with ranks x that quantile q of n records may have: those for which some s has
// |x - q s| + |n - x - (1 - q) s| <= limit. The departure is no smaller than this sum.
std::span<const RankSlot> slots_within(std::span<const RankSlot> slots, double q, double records,
                                       double limit);

// Paths of slots i_1 .. i_b for few joint quantiles, in any order, with the weights
//
//   product over j of measure_j exp(2 lambda half_range_j)
//     * product over k of exp(-lambda |x_{k+1} - x_k - d_k s|),
//
// where x_j is the middle of slot i_j, x_0 = 0 and x_{b+1} = n. They are those of JointProposal,
// except that slots need not ascend, and that each quantile j has slots of its own: those of a
// window about the rank q_j n, of which neighbours are joined as far as the widths of slots allow
// at their distance from q_j n. So most slots lie where the quantile does.
//
// Exponentials are tabulated: an exponent is split into the parts of both slots, each relative to
// the slot's target, and a part for s. So a weight takes products and no call of exp. All terms are
// positive and only added.
class JointChain {
 public:
  // What filter() computes for one s, for each quantile and each slot of its window: the weight of
  // the paths that end there, and sums of these weights over the slots before and from there on,
  // with the exponentials of the ranks as factors.
  struct Messages {
    double s;
    double total;  // the weight of all paths
    std::size_t number;
  };

  // `slots` are those of cut_into_slots() with these widths. A window has those within `limit`.
  // `utility` must outlive the chain; `records` is n.
  JointChain(std::span<const RankSlot> slots, const SlotWidths& widths, double records,
             const JointUtility& utility, double limit, std::pmr::memory_resource* memory);

  // Makes room for so many calls of filter(). Throws std::bad_alloc.
  void reserve(std::size_t filters) {
    messages_.reserve(messages_.size() + filters * slots_.size());
    shifts_.reserve(shifts_.size() + filters * (rows_.size() + 1));
  }

  // Weighs all paths for s. Throws Cancelled and std::bad_alloc.
  Messages filter(double s, CancelPoll& cancel);

  // Draws a path in proportion to the weights, from its last slot on: numbers for slot(). Returns
  // whether positions of its slots may ascend; if they cannot, it leaves the rest of the path
  // undrawn. Throws RandomnessUnavailable.
  bool draw_ascending(const Messages& messages, RandomStream& random,
                      std::span<std::size_t> path) const;

  // A slot of a path.
  const RankSlot& slot(std::size_t number) const { return slots_[number]; }

  // The logarithm of a path's weight, per unit of volume, divided by -lambda.
  double cost(std::span<const std::size_t> path, double s) const;

 private:
  struct Row {
    std::size_t offset;  // of its slots in tables and messages; there is one element more
    std::size_t size;    // the number of its slots
  };

  // A slot at rank x has the kernel exp(-lambda |y - y_before + shift|) with a slot of the row
  // before, with the shift d (n - s).
  struct Shift {
    double up;    // exp(lambda shift)
    double down;  // 1 / up
  };

  // What the tables hold of a slot. y is the rank of its middle, relative to the row's target.
  struct Entry {
    double middle;
    double rising;          // exp(lambda y)
    double falling;         // exp(-lambda y)
    double factor_rising;   // measure exp(2 lambda half_range) * rising
    double factor_falling;  // the same with falling
  };

  // A message: the weight of a slot, the sum of weight * rising over the slots of the window before
  // it, and that of weight * falling over those from it on; and how many slots of the row before
  // are at the expected distance or farther. The last of a row has no slot; `split` is there the
  // number of its slots that are so far from the end.
  struct Message {
    Message() {}  // filter() writes all members that are read

    double weight;
    double before;
    double from;
    std::size_t split;
  };

  // Adds the slots of a row.
  void join(std::span<const RankSlot> window, const SlotWidths& widths, std::size_t quantile);

  double records_;
  const JointUtility& utility_;
  std::pmr::vector<Row> rows_;
  std::pmr::vector<RankSlot> slots_;  // of all rows
  std::pmr::vector<Entry> entries_;
  // Each call of filter() adds to these two.
  std::pmr::vector<Message> messages_;
  std::pmr::vector<Shift> shifts_;  // of the rows, and of the end
};

}  // namespace dpquantile
