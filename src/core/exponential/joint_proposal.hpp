#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "core/base/cancel.hpp"
#include "core/exponential/joint_utility.hpp"
#include "core/exponential/laplace_filter.hpp"
#include "core/exponential/rank_slots.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/random.hpp"
#include "core/privacy/weighted_sampler.hpp"

namespace dpquantile {

// Proposes slots for joint quantiles, given s. A path is ascending slots i_1 <= .. <= i_b. Its
// weight is
//
//   product over k of exp(-lambda |x_{k+1} - x_k - d_k s|)
//     * product over slots of (measure exp(2 lambda half_range))^c / c!,
//
// where x_k is the middle of slot i_k, x_0 = 0, x_{b+1} = n, and c is the number of quantiles in
// the slot. (measure^c / c! is the volume of c sorted positions.) A position's rank differs from
// its slot's middle by at most half_range and counts in two terms of the utility, so all positions
// are proposed with at least their weight. Paths too far from what s expects are left out: for
// every quantile k, |R(p_k) - q_k s| + |n - R(p_k) - (1 - q_k) s| must be at most a limit somewhere
// in its slot. (The sum over the gaps on either side is no smaller.) Slots are drawn by forward
// filtering and backward sampling.
//
// Real is a floating-point type that can represent the b-th power of a slot's measure.
template <class Real>
class JointProposal {
 public:
  // kAbove: the weights are those above and bound the weights of positions from above. kBelow: they
  // have exp(-2 lambda half_range) as a factor instead and bound them from below.
  enum class Bound { kAbove, kBelow };

  // `slots` and `utility` must outlive the proposal; `records` is n.
  JointProposal(std::span<const RankSlot> slots, double records, const JointUtility& utility,
                std::pmr::memory_resource* memory, Bound bound = Bound::kAbove)
      : slots_(slots),
        records_(records),
        utility_(utility),
        middles_(middles(slots, memory)),
        filter_(middles_, utility.lambda(), memory),
        weights_(slots.size(), memory),
        entering_(memory),
        leaving_(memory),
        offsets_(utility.quantiles() + 1, memory),
        scales_(utility.quantiles() + 1, memory),
        windows_(utility.quantiles(), memory) {
    using std::exp;
    const double twice = bound == Bound::kAbove ? 2 : -2;
    std::ranges::transform(slots, weights_.begin(), [&](const RankSlot& slot) {
      return Real(slot.measure) * exp(Real(twice * utility.lambda() * slot.half_range));
    });
  }

  // Prepares draws for s and a limit. Returns the natural logarithm of the weight of all paths, or
  // minus infinity if there are none. Throws Cancelled.
  double filter(double s, double limit, CancelPoll& cancel) {
    s_ = s;
    const std::size_t b = utility_.quantiles();
    for (std::size_t j = 1; j <= b; ++j) {
      windows_[j - 1] = window_of(j, limit);
      if (j > 1) make_ascend(windows_[j - 2], windows_[j - 1]);
      if (window(j).size() == 0) return -std::numeric_limits<double>::infinity();
      offsets_[j] = offsets_[j - 1] + window(j).size();
    }
    entering_.resize(offsets_[b]);
    leaving_.resize(offsets_[b]);
    scales_[0] = 0;
    for (std::size_t i = window(1).first; i < window(1).end; ++i) {
      entering(0)[i] = kernel(0, middles_[i]);
    }
    for (std::size_t j = 1; j <= b; ++j) {
      leave(j, cancel);
      if (j < b) enter(j, cancel);
    }
    total_ = 0;
    for (std::size_t i = window(b).first; i < window(b).end; ++i) total_ += last_weight(i);
    using std::log;
    return static_cast<double>(log(total_) + scales_[b - 1] * log(Real(2)));
  }

  // Draws a path, one slot for each quantile, in proportion to the weights for the s of the last
  // filter(). Throws RandomnessUnavailable and Cancelled.
  void draw(const MechanismContext& context, std::span<std::size_t> path) const {
    std::size_t placed = path.size();
    std::size_t slot = draw_last(context);
    for (;;) {
      for (std::size_t together = draw_together(context.random, placed, slot); together > 0;
           --together) {
        path[--placed] = slot;
      }
      if (placed == 0) return;
      slot = draw_before(placed, slot, context);
    }
  }

  // The logarithm of a path's weight, per unit of volume, divided by -lambda.
  double cost(std::span<const std::size_t> path) const {
    double previous = 0;
    double sum = 0;
    for (std::size_t k = 0; k < path.size(); ++k) {
      const RankSlot& slot = slots_[path[k]];
      sum += std::abs(slot.middle - previous - expected(k)) - 2 * slot.half_range;
      previous = slot.middle;
    }
    return sum + std::abs(records_ - previous - expected(path.size()));
  }

 private:
  static std::pmr::vector<double> middles(std::span<const RankSlot> slots,
                                          std::pmr::memory_resource* memory) {
    std::pmr::vector<double> middles(slots.size(), memory);
    std::ranges::transform(slots, middles.begin(), &RankSlot::middle);
    return middles;
  }

  double expected(std::size_t k) const { return utility_.expected(k, s_); }

  // Restores the ascending order of windows, which rounding could break.
  static void make_ascend(const IndexRange& before, IndexRange& window) {
    window.first = std::max(window.first, before.first);
    window.end = std::max(window.end, before.end);
  }

  // The slots that quantile j, 1 .. b, may lie in.
  const IndexRange& window(std::size_t j) const { return windows_[j - 1]; }

  // The ranks x with |x - before| + |n - behind - x| <= limit lie between `before` and n - behind,
  // or beyond them by at most half of what their distance leaves of the limit.
  IndexRange window_of(std::size_t j, double limit) const {
    const auto [low, high] =
        std::minmax({utility_.expected_before(j, s_), records_ - utility_.expected_behind(j, s_)});
    const double beyond = (limit - (high - low)) / 2;
    if (beyond < 0) return {0, 0};
    const auto first = std::ranges::lower_bound(slots_, low - beyond, {}, [](const RankSlot& slot) {
      return slot.middle + slot.half_range;
    });
    const auto end = std::ranges::upper_bound(slots_, high + beyond, {}, [](const RankSlot& slot) {
      return slot.middle - slot.half_range;
    });
    return {static_cast<std::size_t>(first - slots_.begin()),
            static_cast<std::size_t>(end - slots_.begin())};
  }

  // The factor of a gap n_k in a weight.
  Real kernel(std::size_t k, double gap) const {
    using std::exp;
    return exp(Real(-utility_.lambda() * std::abs(gap - expected(k))));
  }

  // A row of weights, one for each slot of a window.
  template <class Weight>
  struct Row {
    std::span<Weight> weights;
    std::size_t first;

    Weight& operator[](std::size_t slot) const { return weights[slot - first]; }
  };

  // entering(j)[i] is the weight of having j quantiles in slots before i and the next one in slot
  // i, without the weight of slot i, in units of 2^scales_[j]. leaving(j)[i] is the weight of
  // having j quantiles placed, the last of them in slot i, in units of 2^scales_[j - 1].
  Row<Real> entering(std::size_t j) { return row<Real>(entering_, j + 1); }
  Row<const Real> entering(std::size_t j) const { return row<const Real>(entering_, j + 1); }
  Row<Real> leaving(std::size_t j) { return row<Real>(leaving_, j); }
  Row<const Real> leaving(std::size_t j) const { return row<const Real>(leaving_, j); }
  template <class Weight, class Rows>
  Row<Weight> row(Rows& rows, std::size_t j) const {
    return {std::span<Weight>(rows).subspan(offsets_[j - 1], window(j).size()), window(j).first};
  }

  // Sums over the number k of quantiles in slot i, by Horner's scheme: leaving(j) is the sum over k
  // of entering(j - k) weight^k / k! * product of one_more_in_slot(l), j - k < l < j.
  void leave(std::size_t j, CancelPoll& cancel) {
    const Row<Real> sums = leaving(j);
    const auto [first, end] = window(j);
    std::ranges::fill(sums.weights, Real(0));
    for (std::size_t k = most_together(j); k > 0; --k) {
      const Row<const Real> fewer = std::as_const(*this).entering(j - k);
      const Real one_more = k == j ? Real(0) : one_more_in_slot(j - k) / Real(k + 1);
      const std::size_t common_end = std::min(end, window(j - k + 1).end);
      for (std::size_t i = first; i < common_end; ++i) {
        sums[i] = fewer[i] + sums[i] * weights_[i] * one_more;
      }
      cancel.tick(end - first);
    }
    for (std::size_t i = first; i < end; ++i) sums[i] *= weights_[i];
  }

  // The most quantiles that can lie in one slot if quantile j is the last of them. Windows ascend.
  std::size_t most_together(std::size_t j) const {
    std::size_t k = 1;
    while (k < j && window(j - k).end > window(j).first) ++k;
    return k;
  }

  // The factor, besides the slot's own weight, by which a weight changes when quantile l lies in
  // the same slot as the next: the kernel of their gap, and the ratio between the units of
  // entering(l - 1) and of entering(l).
  Real one_more_in_slot(std::size_t l) const {
    using std::ldexp;
    return ldexp(kernel(l, 0), scales_[l - 1] - scales_[l]);
  }

  void enter(std::size_t j, CancelPoll& cancel) {
    const std::span<Real> sums = entering(j).weights;
    filter_.apply(leaving(j).weights, window(j), expected(j), sums, window(j + 1), cancel);
    const Real largest = *std::ranges::max_element(sums);
    using std::ilogb;
    using std::ldexp;
    const int exponent = largest > 0 ? ilogb(largest) : 0;
    for (Real& sum : sums) sum = ldexp(sum, -exponent);
    scales_[j] = scales_[j - 1] + exponent;
  }

  Real last_weight(std::size_t i) const {
    const std::size_t b = utility_.quantiles();
    return leaving(b)[i] * kernel(b, records_ - middles_[i]);
  }

  std::size_t draw_last(const MechanismContext& context) const {
    for (;;) {
      WeightedSampler scan(context.random);
      const auto [first, end] = window(utility_.quantiles());
      for (std::size_t i = first; i < end; ++i) {
        if (scan.takes(static_cast<double>(last_weight(i) / total_))) return i;
      }
      context.cancel.tick(end - first);
    }
  }

  // Draws how many of the `placed` quantiles lie in the slot of the last of them.
  std::size_t draw_together(RandomStream& random, std::size_t placed, std::size_t slot) const {
    const Real total = leaving(placed)[slot];
    for (;;) {
      WeightedSampler scan(random);
      Real factor = weights_[slot];
      for (std::size_t k = 1; k <= placed && slot < window(placed - k + 1).end; ++k) {
        if (scan.takes(static_cast<double>(entering(placed - k)[slot] * factor / total))) return k;
        if (k < placed) {
          factor *= one_more_in_slot(placed - k) * weights_[slot] / Real(k + 1);
        }
      }
    }
  }

  // Draws the slot of the last of the `placed` quantiles. It lies before `slot`, which holds the
  // next quantile. The slots are visited from the likeliest gap outwards, so that few are visited.
  std::size_t draw_before(std::size_t placed, std::size_t slot,
                          const MechanismContext& context) const {
    using std::ldexp;
    const Real total = ldexp(entering(placed)[slot], scales_[placed] - scales_[placed - 1]);
    const double edge = middles_[slot] - expected(placed);
    const auto weight = [&](std::size_t i) {
      return static_cast<double>(leaving(placed)[i] * kernel(placed, middles_[slot] - middles_[i]) /
                                 total);
    };
    const IndexRange range{window(placed).first, std::min(window(placed).end, slot)};
    const auto begin = middles_.begin();
    const auto centre = static_cast<std::size_t>(
        std::lower_bound(begin + static_cast<std::ptrdiff_t>(range.first),
                         begin + static_cast<std::ptrdiff_t>(range.end), edge) -
        begin);
    for (;;) {
      WeightedSampler scan(context.random);
      std::size_t below = centre;
      std::size_t above = centre;
      while (below > range.first || above < range.end) {
        context.cancel.tick();
        const bool go_up =
            below == range.first ||
            (above < range.end && middles_[above] - edge < edge - middles_[below - 1]);
        const std::size_t visited = go_up ? above++ : --below;
        if (scan.takes(weight(visited))) return visited;
      }
    }
  }

  std::span<const RankSlot> slots_;
  double records_;
  const JointUtility& utility_;
  std::pmr::vector<double> middles_;
  LaplaceFilter<Real> filter_;
  std::pmr::vector<Real> weights_;
  std::pmr::vector<Real> entering_;  // rows one after the other, each over the slots of a window
  std::pmr::vector<Real> leaving_;
  std::pmr::vector<std::size_t> offsets_;  // where rows end
  std::pmr::vector<int> scales_;
  std::pmr::vector<IndexRange> windows_;
  double s_ = 0;
  Real total_ = 0;
};

}  // namespace dpquantile
