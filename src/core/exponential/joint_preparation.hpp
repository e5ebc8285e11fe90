#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/joint_proposal.hpp"
#include "core/exponential/joint_utility.hpp"
#include "core/exponential/rank.hpp"
#include "core/exponential/rank_slots.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/weighted_sampler.hpp"

namespace dpquantile {

// The most that slots of the finest width add to the logarithm of a proposal's weight, for all
// quantiles together. Finer slots take longer to filter; coarser slots lead to more refused
// proposals.
inline double finest_envelope(std::size_t quantiles) {
  return std::min(1.6 + 0.16 * static_cast<double>(quantiles), 4.0);
}

// Lattice indices, both ends included.
struct LatticeRange {
  std::uint64_t first;
  std::uint64_t last;

  bool has(std::uint64_t index) const { return index >= first && index <= last; }
};

// Prepares a joint draw (joint_mechanism.hpp): it cuts the interval into slots and weighs the
// lattice points. It proposes more than the mechanism keeps; the caller accepts or refuses.
//
// The first pass, the *survey*, bounds the weight of all positions for one lattice point, from
// below and from above. These bounds decide how far positions are proposed, how fine the slots are,
// and for how many lattice points slots are filtered. The second pass cuts those slots and weighs
// the lattice points. No figure of the data decides whether a pass is repeated, so that the time
// has no steps: one record more or less changes the bounds, and with them the work, a little
// (docs/privacy.md, "Time of a joint draw").
//
// Real is a floating-point type that can represent the b-th power of a slot's measure.
//
// Privacy: internal to the mechanism. Nothing of it may be released.
template <class Real>
class JointPreparation {
 public:
  // The arguments must outlive this object. Throws Cancelled and RandomnessUnavailable.
  JointPreparation(const SmearedRank& rank, PositionInterval interval, const JointUtility& utility,
                   const MechanismContext& context)
      : rank_(rank),
        interval_(interval),
        utility_(utility),
        context_(context),
        records_(in_records(rank.at(interval.end) - rank.at(interval.begin))),
        targets_(context.memory),
        slots_(context.memory),
        log_weights_(context.memory) {
    for (std::size_t k = 1; k <= utility.quantiles(); ++k) {
      targets_.push_back(utility.expected_before(k, records_));
    }
    const double part = context.random.unit_real();
    const Survey survey = make_survey();
    log_least_ = log_least(survey);
    limit_ = reach_of(log_least_, kTailBits + kLatticeBits);
    filtered_ = filtered_points(survey, part);
    range_ = lattice_around(limit_);
    range_ = {std::min(range_.first, filtered_.first), std::max(range_.last, filtered_.last)};
    prepare(growth_for(survey));
  }

  // Prepares once more, with finer slots, for data that refuse too many proposals: most of their
  // weight lies at lattice points far from the number of records, which the survey does not see.
  // Throws Cancelled.
  void refine() { prepare(std::max(growth_ / 4, slowest_growth())); }

  // Whether the proposals weigh at least as much as the positions that they must contain. They do,
  // unless Real cannot represent the weights. (Nothing may be drawn then: it would be wrong, or the
  // draw would never end.)
  bool covers_least() const { return log_proposed_ >= log_least_ - kLogRounding; }

  // The number of records in the interval.
  double records() const { return records_; }
  std::span<const RankSlot> slots() const { return slots_; }
  // The lattice points that are proposed.
  const LatticeRange& range() const { return range_; }
  // Those for which slots are proposed. For the others positions are proposed evenly.
  const LatticeRange& filtered() const { return filtered_; }
  // The lattice point that the slots were last filtered for.
  std::uint64_t prepared() const { return prepared_; }

  // Draws a lattice point in proportion to the weight of its proposals. Throws
  // RandomnessUnavailable.
  std::uint64_t draw_lattice_index() const {
    for (;;) {
      WeightedSampler scan(context_.random);
      for (std::size_t i = 0; i < log_weights_.size(); ++i) {
        if (scan.takes(std::exp(log_weights_[i]) / total_)) return range_.first + i;
      }
    }
  }

  // The proposal for one of the filtered lattice points, ready to draw. Throws Cancelled.
  const JointProposal<Real>& proposal_at(std::uint64_t index) {
    if (prepared_ != index) filter(index);
    return *proposal_;
  }

 private:
  // The bound on the weight of all lattice points that are not filtered may be this many times the
  // weight for s = n. A larger factor leads to more refused proposals, but fewer points
  // need filtering.
  static constexpr double kUnfiltered = 4;

  // The most that slots beyond the finest width should add to the logarithm of the proposals'
  // weight.
  static constexpr double kFarEnvelope = 3;

  // Logarithms of bounds on the weight of all positions for s = n, which need not be on the
  // lattice.
  struct Survey {
    double log_below;
    double log_above;
  };

  double quantiles() const { return static_cast<double>(utility_.quantiles()); }

  // The growth of the slots' widths that suits most data.
  double widest_growth() const { return 1 / std::max(5.0, 2 * quantiles()); }

  // With it the slots of positions within the limit add at most finest_envelope + kFarEnvelope.
  double slowest_growth() const {
    return std::min(kFarEnvelope / (utility_.lambda() * quantiles() * limit_), widest_growth());
  }

  // The index of the largest lattice point s <= n.
  std::uint64_t index_below() const {
    return static_cast<std::uint64_t>(records_ / utility_.lattice_step());
  }

  // Sets a limit and slots that suit most data. The final ones replace them. A limit that is too
  // small for the data gives a smaller lower bound, which is a bound all the same.
  Survey make_survey() {
    const double most = rank_.most_at_position(interval_.begin, interval_.end);
    limit_ = (60 + 6 * quantiles()) / utility_.lambda() + (quantiles() + 1) * most;
    slots_ = cut(widest_growth());
    return {bound(JointProposal<Real>::Bound::kBelow), bound(JointProposal<Real>::Bound::kAbove)};
  }

  double bound(typename JointProposal<Real>::Bound side) const {
    JointProposal<Real> proposal(slots_, records_, utility_, context_.memory, side);
    return proposal.filter(records_, limit_, context_.cancel);
  }

  // The logarithm of a lower bound on the weight of all positions. A departure changes by at most
  // as much as s. For the lattice point s = 0 it is n for all positions.
  double log_least(const Survey& survey) const {
    const double beyond = std::remainder(records_, utility_.lattice_step());
    return std::max({survey.log_below - utility_.lambda() * std::abs(beyond),
                     log_volume() - utility_.lambda() * records_, log_of_nearest()});
  }

  // The logarithm of the weight of one choice of positions, at the largest lattice point s <= n:
  // for each target the last position with a rank of at most it. By the records at a position this
  // bounds how far positions are proposed, whatever the survey says.
  double log_of_nearest() const {
    const ScaledRank begin = rank_.at(interval_.begin);
    std::pmr::vector<double> gaps(context_.memory);
    double previous = 0;
    for (const double target : targets_) {
      const ScaledRank rank = begin + static_cast<ScaledRank>(std::ldexp(target, kPositionBits));
      const Position position = std::min(rank_.last_within(rank), interval_.end - 1);
      const double here = in_records(rank_.at(position) - begin);
      gaps.push_back(here - previous);
      previous = here;
    }
    gaps.push_back(records_ - previous);
    const double log_measure =
        -quantiles() * std::log(static_cast<double>(interval_.end - interval_.begin));
    const double s = utility_.lattice_point(index_below());
    return log_volume() + log_measure - utility_.lambda() * utility_.departure(gaps, s);
  }

  // If the bounds of the survey differ by more than slots of the finest width explain, the widths
  // grow more slowly, and the difference falls at least in proportion.
  double growth_for(const Survey& survey) const {
    const double far =
        survey.log_above - survey.log_below - 2 * finest_envelope(utility_.quantiles());
    if (!(far > kFarEnvelope)) return widest_growth();
    return std::max(widest_growth() * kFarEnvelope / far, slowest_growth());
  }

  void prepare(double growth) {
    growth_ = growth;
    slots_ = cut(growth);
    proposal_.emplace(slots_, records_, utility_, context_.memory);
    weigh_lattice();
  }

  std::pmr::vector<RankSlot> cut(double growth) const {
    const double lambda = utility_.lambda();
    const SlotWidths widths{
        .targets = targets_,
        .finest = finest_envelope(utility_.quantiles()) / (lambda * quantiles()),
        .near = (4 + 2 * std::sqrt(quantiles())) / lambda,
        .growth = growth,
        .farthest = limit_};
    return cut_into_slots(rank_, interval_, widths, context_);
  }

  // The lattice points within `reach` of the number of records.
  LatticeRange lattice_around(double reach) const {
    const double step = utility_.lattice_step();
    return {static_cast<std::uint64_t>(std::ceil(std::max(records_ - reach, 0.0) / step)),
            static_cast<std::uint64_t>(std::floor((records_ + reach) / step))};
  }

  // The gaps sum to n, so that the departure is at least |n - s|. Far from n this bounds the weight
  // well enough for proposals. The points nearer to n are filtered, equally many on both sides of
  // n; points below 0 are made up for above. `part`, evenly distributed in [0, 1), is added to
  // their number before it is cut to an integer, so that no number of records has a step there.
  LatticeRange filtered_points(const Survey& survey, double part) const {
    const double fall = -std::expm1(-utility_.lambda() * utility_.lattice_step());
    const double middle = std::max((survey.log_below + survey.log_above) / 2, log_least_);
    const double reach = std::min(reach_of(middle, std::log2(2 / (kUnfiltered * fall))), limit_);
    const auto each_side = static_cast<std::uint64_t>(reach / utility_.lattice_step() + 1 + part);
    const std::uint64_t above = index_below() + 1;
    const std::uint64_t first = above > each_side ? above - each_side : 0;
    return {first, first + 2 * each_side - 1};
  }

  double log_volume() const { return -std::lgamma(quantiles() + 1); }

  // The F beyond which the positions weigh less than 2^-bits of a given weight, for one lattice
  // point: all positions together have the volume 1 / b!.
  double reach_of(double log_weight, double bits) const {
    const double reach = (log_volume() - log_weight + bits * std::numbers::ln2) / utility_.lambda();
    return std::max(reach, 0.0);
  }

  // Weighs the lattice points. The largest s <= n comes last, because draws need it first.
  void weigh_lattice() {
    log_weights_.resize(as_size(range_.last - range_.first + 1));
    const auto weigh = [&](std::uint64_t i) {
      log_weights_[static_cast<std::size_t>(i - range_.first)] = log_weight(i);
    };
    for (std::uint64_t i = range_.first; i <= range_.last; ++i) {
      if (i != index_below()) weigh(i);
    }
    weigh(index_below());
    const double largest = *std::ranges::max_element(log_weights_);
    total_ = 0;
    for (double& weight : log_weights_) {
      weight -= largest;
      total_ += std::exp(weight);
    }
    log_proposed_ = largest + std::log(total_);
  }

  double log_weight(std::uint64_t index) {
    if (filtered_.has(index)) return filter(index);
    return log_volume() - utility_.lambda() * std::abs(records_ - utility_.lattice_point(index));
  }

  double filter(std::uint64_t index) {
    prepared_ = index;
    return proposal_->filter(utility_.lattice_point(index), limit_, context_.cancel);
  }

  const SmearedRank& rank_;
  PositionInterval interval_;
  const JointUtility& utility_;
  MechanismContext context_;
  double records_;
  std::pmr::vector<double> targets_;
  std::pmr::vector<RankSlot> slots_;
  std::optional<JointProposal<Real>> proposal_;
  double log_least_ = 0;  // of the weight of all positions, a lower bound
  double limit_ = 0;      // on the departure of what is proposed
  double growth_ = 0;     // of the slots' widths
  LatticeRange filtered_{};
  LatticeRange range_{};
  std::pmr::vector<double> log_weights_;  // by lattice index from range_.first on
  double total_ = 0;
  double log_proposed_ = 0;  // of the weight of all proposals
  std::uint64_t prepared_ = 0;
};

}  // namespace dpquantile
