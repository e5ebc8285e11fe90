#include "core/exponential/small_joint_mechanism.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/exponential/joint_chain.hpp"
#include "core/exponential/joint_utility.hpp"
#include "core/exponential/rank_slots.hpp"
#include "core/privacy/weighted_sampler.hpp"

namespace dpquantile {

namespace {

// Doubles hold the weights of positions up to this lambda F. No data that are drawn here need
// farther ones (docs/privacy.md, "Floating point").
constexpr double kMostFarCost = 250;

// The most that the finest slots add to the logarithm of a proposal's weight, for all quantiles
// together. Finer slots take longer to weigh; coarser slots lead to more refused proposals.
constexpr double kFinestEnvelope = 1.5;
// The same for slots far from the targets, once the slots are as fine as they get.
constexpr double kFarEnvelope = 3;

// The distance from a target, in 1 / lambda, within which slots have the finest width, and by how
// much of the distance beyond it they may be wider.
constexpr double kNear = 1;
constexpr double kWidestGrowth = 0.3;

// The bound on the weight of all lattice points that are not filtered may be this many times the
// weight for s = n. A larger factor leads to more refused proposals, but fewer points need
// filtering.
constexpr double kUnfiltered = 8;

// Proposals without an accepted one after which the slots are made finer. Chance alone hardly ever
// refuses as many.
constexpr int kProposalsBeforeRefining = 100;

class SmallJointMechanism {
 public:
  SmallJointMechanism(const SmearedRank& rank, PositionInterval interval,
                      std::span<const double> quantiles, double lambda,
                      const MechanismContext& context)
      : rank_(rank),
        interval_(interval),
        context_(context),
        utility_(quantiles, lambda, context.memory),
        begin_rank_(rank.at(interval.begin)),
        end_rank_(rank.at(interval.end)),
        records_(in_records(end_rank_ - begin_rank_)),
        log_volume_(-std::lgamma(static_cast<double>(quantiles.size()) + 1)),
        targets_(context.memory),
        cells_(context.memory),
        filtered_(context.memory),
        weights_(context.memory),
        sums_(context.memory) {
    for (std::size_t k = 1; k <= quantiles.size(); ++k) {
      targets_.push_back(utility_.expected_before(k, records_));
    }
    for (const double target : targets_) cells_.push_back(cell_of(target));
    log_least_ = log_least();
    limit_ = reach_of(log_least_, kTailBits + kLatticeBits);
  }

  // Returns false, before anything is drawn, if doubles do not hold the weights, or if the
  // proposals weigh less than the positions that they must contain. Neither can be, as long as the
  // positions have few records (docs/privacy.md, "Floating point"). But a draw from such proposals
  // would be wrong, or would never end.
  bool draw(std::span<Position> positions) {
    if (!(utility_.lambda() * limit_ <= kMostFarCost)) return false;
    prepare(kWidestGrowth);
    if (!(log_proposed() >= log_least_ - kLogRounding)) return false;
    for (int refused = 1; !propose(positions); ++refused) {
      context_.cancel.tick(weights_.size());
      if (refused % kProposalsBeforeRefining == 0) refine();
    }
    return true;
  }

 private:
  double quantiles() const { return static_cast<double>(utility_.quantiles()); }

  double finest() const { return kFinestEnvelope / (utility_.lambda() * quantiles()); }

  // A rank in records, counted from the beginning of the interval, as one of the histogram. Ranks
  // outside the interval become that of its nearest end.
  ScaledRank scaled(double records) const {
    return std::clamp(
        begin_rank_ + static_cast<ScaledRank>(std::ldexp(records, int{kPositionBits})), begin_rank_,
        end_rank_);
  }

  // The ranks of the cell that a target lies in, or the target alone if the cell has fewer records
  // than the finest slot.
  RankStretch cell_of(double target) const {
    const ScaledRank rank = scaled(target);
    const std::size_t beyond = rank_.first_run_beyond(rank);
    if (beyond == 0 || rank_.before(beyond) <= rank) return {target, target};
    const double low = in_records(std::max(rank_.before(beyond - 1), begin_rank_) - begin_rank_);
    const double high = in_records(std::min(rank_.before(beyond), end_rank_) - begin_rank_);
    return high - low > finest() ? RankStretch{low, high} : RankStretch{target, target};
  }

  // The logarithm of a lower bound on the weight of all positions, in units of sorted volume. It is
  // that of a stretch of positions for each target: independent even positions U_k come to lie in
  // the stretches at least with the product of their measures, and then the sorted ones do so too,
  // as the ends of the stretches ascend. A stretch has all positions with ranks near the target. If
  // there are none, because one position has more records, it is the last one below the target.
  double log_least() const {
    const double near = 1 / (utility_.lambda() * quantiles());
    double log_measure = 0;
    double departure = utility_.lattice_step();
    for (const double target : targets_) {
      const Position last = std::min(rank_.last_within(scaled(target + near)), interval_.end - 1);
      const Position first =
          std::clamp(rank_.first_reaching(scaled(target - near)), interval_.begin, last);
      log_measure += std::log(static_cast<double>(last - first + 1) /
                              static_cast<double>(interval_.end - interval_.begin));
      departure += 2 * std::max(distance(first, target), distance(last, target));
    }
    return log_volume_ + log_measure - utility_.lambda() * departure;
  }

  double distance(Position position, double target) const {
    return std::abs(in_records(rank_.at(position) - begin_rank_) - target);
  }

  // The F beyond which the positions weigh less than 2^-bits of a given weight, for one lattice
  // point: all positions together have the volume 1 / b!.
  double reach_of(double log_weight, double bits) const {
    const double reach = (log_volume_ - log_weight + bits * std::numbers::ln2) / utility_.lambda();
    return std::max(reach, 0.0);
  }

  // With it the slots of positions within the limit add at most kFinestEnvelope + kFarEnvelope.
  double slowest_growth() const {
    return std::min(kFarEnvelope / (utility_.lambda() * quantiles() * limit_), kWidestGrowth);
  }

  void refine() {
    const double growth = std::max(growth_ / 4, slowest_growth());
    if (growth < growth_) prepare(growth);
  }

  void prepare(double growth) {
    growth_ = growth;
    const double lambda = utility_.lambda();
    const SlotWidths widths{.targets = targets_,
                            .finest = finest(),
                            .near = kNear / lambda,
                            .growth = growth,
                            .farthest = limit_,
                            .cells = cells_};
    const auto slots = cut_into_slots(rank_, interval_, widths, context_);
    chain_.emplace(slots, widths, records_, utility_, limit_, context_.memory);
    weigh_lattice();
  }

  // Weighs the lattice points within the limit of n, from the point at or below n outwards. The
  // gaps sum to n, so that the departure is at least |n - s|. Far from n this bounds the weight
  // well enough for proposals. The points nearer to n are filtered, equally many on both sides.
  void weigh_lattice() {
    const double step = utility_.lattice_step();
    const auto middle = static_cast<std::uint64_t>(records_ / step);
    filtered_.clear();
    filtered_.push_back(chain_->filter(utility_.lattice_point(middle), context_.cancel));
    const double fall = -std::expm1(-utility_.lambda() * step);
    const double reach = std::min(
        reach_of(std::log(filtered_[0].total), std::log2(2 / (kUnfiltered * fall))), limit_);
    // The random part makes sure that no number of records has a step here.
    const auto each_side =
        static_cast<std::uint64_t>(reach / step + 1 + context_.random.unit_real());
    first_filtered_ = middle + 1 > each_side ? middle + 1 - each_side : 0;
    const std::uint64_t filtered_end = first_filtered_ + 2 * each_side;
    const auto below =
        static_cast<std::uint64_t>(std::ceil(std::max(records_ - limit_, 0.0) / step));
    const auto beyond = static_cast<std::uint64_t>(std::floor((records_ + limit_) / step)) + 1;
    first_ = std::min(below, first_filtered_);
    const std::uint64_t end = std::max(beyond, filtered_end);

    const JointChain::Messages at_middle = filtered_[0];
    filtered_.clear();
    chain_->reserve(as_size(2 * each_side));
    weights_.clear();
    sums_.assign(as_size(end - first_) + 1, 0);
    // Relative to the weight for s = n.
    log_unit_ = std::log(at_middle.total);
    for (std::uint64_t i = first_; i < end; ++i) {
      const double s = utility_.lattice_point(i);
      double weight =
          std::exp(log_volume_ - log_unit_ - utility_.lambda() * std::abs(records_ - s));
      if (i >= first_filtered_ && i < filtered_end) {
        filtered_.push_back(i == middle ? at_middle : chain_->filter(s, context_.cancel));
        const double by_slots = filtered_.back().total * std::exp(-log_unit_);
        // With few records, positions in slots ascend too rarely.
        if (by_slots < weight) {
          weight = by_slots;
        } else {
          filtered_.back().total = 0;
        }
      }
      weights_.push_back(weight);
      sums_[as_size(i - first_) + 1] = sums_[as_size(i - first_)] + weight;
    }
  }

  // The logarithm of the weight of all proposals.
  double log_proposed() const { return log_unit_ + std::log(sums_.back()); }

  // Draws a lattice point in proportion to the weight of its proposals, from first_ on.
  std::size_t draw_lattice_offset() {
    return draw_weighted_index(
        sums_.size() - 1, [&](std::size_t i) { return sums_[i]; },
        [&](std::size_t i) { return weights_[i]; }, sums_.back(), context_.random);
  }

  // Proposes positions; returns whether they are accepted.
  bool propose(std::span<Position> positions) {
    const std::uint64_t index = first_ + draw_lattice_offset();
    const double s = utility_.lattice_point(index);
    double cost;
    const std::uint64_t i = index - first_filtered_;
    if (index >= first_filtered_ && i < filtered_.size() && filtered_[as_size(i)].total > 0) {
      std::array<std::size_t, kMostSmallJoint> space;
      const std::span<std::size_t> path = std::span(space).first(positions.size());
      if (!chain_->draw_ascending(filtered_[as_size(i)], context_.random, path)) return false;
      for (std::size_t k = 0; k < path.size(); ++k) {
        positions[k] = draw_position(chain_->slot(path[k]).positions);
      }
      if (!ascend(positions)) return false;
      measure_gaps(positions, [&](std::size_t k) { return chain_->slot(path[k]).first_run; });
      cost = chain_->cost(path, s);
    } else {
      for (Position& position : positions) position = draw_position(interval_);
      std::ranges::sort(positions);
      measure_gaps(positions, [](std::size_t) { return std::size_t{0}; });
      cost = std::abs(records_ - s);
    }
    const double departure = utility_.departure(gaps(), s);
    return context_.random.unit_real() < std::exp(-utility_.lambda() * (departure - cost)) &&
           is_least(index, departure);
  }

  Position draw_position(PositionInterval interval) {
    return interval.begin + context_.random.uniform_below(interval.end - interval.begin);
  }

  // Whether independent positions have come in ascending order. Equal positions are in order with
  // the probability of one of their permutations.
  bool ascend(std::span<const Position> positions) {
    std::uint64_t together = 1;
    for (std::size_t k = 1; k < positions.size(); ++k) {
      if (positions[k] < positions[k - 1]) return false;
      together = positions[k] == positions[k - 1] ? together + 1 : 1;
      if (together > 1 && context_.random.uniform_below(together) != 0) return false;
    }
    return true;
  }

  std::span<const double> gaps() const { return std::span(gaps_).first(utility_.quantiles() + 1); }

  // The first run that is not before positions[k] is at least first_run(k).
  template <class FirstRun>
  void measure_gaps(std::span<const Position> positions, FirstRun first_run) {
    ScaledRank previous = begin_rank_;
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const std::size_t run = rank_.data().first_run_from(cell_at(positions[k]), first_run(k));
      const ScaledRank here = rank_.at(positions[k], run);
      gaps_[k] = in_records(here - previous);
      previous = here;
    }
    gaps_[positions.size()] = in_records(end_rank_ - previous);
  }

  // Whether this lattice point is the first of those with the least departure. So positions are
  // kept for one s only. The departure is convex in s: beyond a point where it is larger by more
  // than rounding errors, it is larger everywhere.
  bool is_least(std::uint64_t index, double departure) const {
    const double rounding = (records_ + utility_.lattice_point(index)) * 0x1p-40;
    for (std::uint64_t i = index; i-- > first_;) {
      const double other = utility_.departure(gaps(), utility_.lattice_point(i));
      if (other <= departure) return false;
      if (other > departure + rounding) break;
    }
    for (std::uint64_t i = index + 1; i < first_ + weights_.size(); ++i) {
      const double other = utility_.departure(gaps(), utility_.lattice_point(i));
      if (other < departure) return false;
      if (other > departure + rounding) break;
    }
    return true;
  }

  const SmearedRank& rank_;
  PositionInterval interval_;
  MechanismContext context_;
  JointUtility utility_;
  ScaledRank begin_rank_;
  ScaledRank end_rank_;
  double records_;
  double log_volume_;
  std::pmr::vector<double> targets_;
  std::pmr::vector<RankStretch> cells_;  // of the targets
  std::optional<JointChain> chain_;
  double log_least_ = 0;              // of the weight of all positions, a lower bound
  double limit_ = 0;                  // on the departure of what is proposed
  double growth_ = 0;                 // of the slots' widths
  std::uint64_t first_ = 0;           // of the lattice points that are proposed
  std::uint64_t first_filtered_ = 0;  // of those for which slots are weighed
  // A total of 0 says that positions are proposed evenly all the same.
  std::pmr::vector<JointChain::Messages> filtered_;
  double log_unit_ = 0;               // of the weights
  std::pmr::vector<double> weights_;  // by lattice index from first_ on
  std::pmr::vector<double> sums_;     // of the weights before
  std::array<double, kMostSmallJoint + 1> gaps_{};
};

}  // namespace

bool draw_small_joint_positions(const SmearedRank& rank, PositionInterval interval,
                                std::span<const double> quantiles, double lambda,
                                const MechanismContext& context, std::span<Position> positions) {
  return SmallJointMechanism(rank, interval, quantiles, lambda, context).draw(positions);
}

}  // namespace dpquantile
