#include "core/exponential/joint_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/exponential/joint_proposal.hpp"
#include "core/exponential/joint_utility.hpp"
#include "core/exponential/rank_slots.hpp"
#include "core/privacy/weighted_sampler.hpp"

namespace dpquantile {

namespace {

// Pays for rounding: docs/privacy.md, "Floating point".
constexpr double kRoundingSlack = 1.0 / 1024;

// The lattice points and slots that are left out have a total probability below 2^-kTailBits.
constexpr double kTailBits = 72;
constexpr double kLatticeBits = 13;

// The bound on the weight of all lattice points that are not filtered may be this many times the
// weight of the middle one. A larger factor leads to more refused proposals, but fewer points need
// filtering.
constexpr double kUnfiltered = 4;

// The most that slots of the finest width add to the logarithm of a proposal's weight, for all
// quantiles together. Finer slots take longer to filter; coarser slots lead to more refused
// proposals.
double envelope(std::size_t quantiles) {
  return std::min(1.6 + 0.16 * static_cast<double>(quantiles), 4.0);
}

// The same for the part of the widths that grows with the distance from the quantiles, when the
// growth is slowest, for positions within the limit.
constexpr double kFarEnvelope = 3;

// Beyond twice the envelope, the most by which the logarithm of the proposals' total weight may
// exceed that of the known lower bound on the positions' total weight.
constexpr double kMostRefused = 3;

// Up to kMostForDouble quantiles the powers of a measure of 2^-56 are doubles. Then doubles are
// enough if lambda times the records at a position is at most kMostCostForDouble.
constexpr std::size_t kMostForDouble = 16;
constexpr double kMostCostForDouble = 4;

// This is far less noise than anyone needs. A larger lambda would need limits beyond kMostFarCost
// where many records lie on one position.
constexpr double kMostLambda = 8;

// No positions with a larger lambda F are proposed. No data need as much: docs/privacy.md,
// "Floating point".
constexpr double kMostFarCost = 50'000;

double in_records(ScaledRank rank) {
  return std::ldexp(static_cast<double>(rank), -int{kPositionBits});
}

// The most records that one position may have.
double records_at_position(double records) {
  return std::ldexp(records, -int{kPositionBits});
}

// Lattice indices, both ends included.
struct LatticeRange {
  std::uint64_t first;
  std::uint64_t last;
};

// Draws joint quantiles once, by exact rejection. A proposal is an s on the lattice, slots from
// JointProposal, and positions in the slots.
template <class Real>
class JointMechanism {
 public:
  JointMechanism(const SmearedRank& rank, PositionInterval interval,
                 std::span<const double> quantiles, double lambda, const MechanismContext& context)
      : rank_(rank),
        interval_(interval),
        context_(context),
        records_(in_records(rank.at(interval.end) - rank.at(interval.begin))),
        utility_(quantiles, lambda, context.memory),
        targets_(quantiles.begin(), quantiles.end(), context.memory),
        slots_(context.memory),
        log_weights_(context.memory),
        path_(quantiles.size(), context.memory),
        gaps_(quantiles.size() + 1, context.memory) {
    for (double& target : targets_) target *= records_;
  }

  void draw(std::span<Position> positions) {
    prepare();
    std::pmr::vector<std::uint64_t> lattice(attempts_at_once(), context_.memory);
    for (;;) {
      context_.cancel.check();
      for (std::uint64_t& index : lattice) index = draw_lattice_index();
      if (first_accepted(lattice, positions)) return;
    }
  }

 private:
  // With this many attempts a batch rarely has no accepted proposal.
  std::size_t attempts_at_once() const {
    return static_cast<std::size_t>(8 * std::exp(envelope(utility_.quantiles())));
  }

  // Cuts slots until the known bounds show that enough proposals are accepted. The first cut suits
  // most data. The last cut is so narrow that positions with F up to the limit are proposed with at
  // most exp(2 (envelope + kFarEnvelope)) times their weight.
  void prepare() {
    const auto b = static_cast<double>(utility_.quantiles());
    double growth = 1 / std::max(5.0, 2 * b);
    for (;;) {
      const double least_weight = find_limit(growth);
      proposal_.emplace(slots_, records_, utility_, context_.memory);
      const double all_weights = weigh_lattice(least_weight);
      const double narrowest = kFarEnvelope / (utility_.lambda() * b * limit_);
      const bool enough =
          all_weights - least_weight <= 2 * envelope(utility_.quantiles()) + kMostRefused;
      if (enough || growth <= narrowest) return;
      growth = std::max(growth / 4, narrowest);
    }
  }

  std::pmr::vector<RankSlot> cut(double limit, double growth) const {
    const auto b = static_cast<double>(utility_.quantiles());
    const double lambda = utility_.lambda();
    const SlotWidths widths{.targets = targets_,
                            .finest = envelope(utility_.quantiles()) / (lambda * b),
                            .near = (4 + 2 * std::sqrt(b)) / lambda,
                            .growth = growth,
                            .farthest = limit};
    return cut_into_slots(rank_, interval_, widths, context_);
  }

  // Finds the limit on F and cuts slots for it. Positions and s with F beyond the limit have less
  // than 2^-kTailBits of the total weight. There are fewer than 2^kLatticeBits lattice points,
  // which share this tail. Returns the logarithm of a lower bound on the total weight.
  double find_limit(double growth) {
    const auto b = static_cast<double>(utility_.quantiles());
    const double most = kMostFarCost / utility_.lambda();
    limit_ = std::min((60 + 6 * b) / utility_.lambda(), most);
    for (;;) {
      slots_ = cut(limit_, growth);
      const double least = least_weight();
      const double needed = std::min(reach_of(least, kTailBits + kLatticeBits), most);
      if (!(needed > limit_)) {
        limit_ = needed;
        return least;
      }
      limit_ = needed;
    }
  }

  // The logarithm of a lower bound on the weight of all positions. It is the larger of the bounds
  // for the largest s <= n, and for s = 0, where the sum is n.
  double least_weight() const {
    JointProposal<Real> below(slots_, records_, utility_, context_.memory,
                              JointProposal<Real>::Bound::kBelow);
    const double step = utility_.lattice_step();
    const double weight = below.filter(std::floor(records_ / step) * step, limit_, context_.cancel);
    return std::max(weight, log_volume() - utility_.lambda() * records_);
  }

  // The lattice points within `reach` of the number of records.
  LatticeRange lattice_around(double reach) const {
    const double step = utility_.lattice_step();
    return {static_cast<std::uint64_t>(std::ceil(std::max(records_ - reach, 0.0) / step)),
            static_cast<std::uint64_t>(std::floor((records_ + reach) / step))};
  }

  double log_volume() const { return -std::lgamma(static_cast<double>(utility_.quantiles() + 1)); }

  // The F beyond which the positions weigh less than 2^-bits of a given weight, for one lattice
  // point: all positions together have the volume 1 / b!.
  double reach_of(double log_weight, double bits) const {
    const double reach = (log_volume() - log_weight + bits * std::numbers::ln2) / utility_.lambda();
    return std::max(reach, 0.0);
  }

  // Weighs every s within the limit and returns the logarithm of the sum. The gaps sum to n, so
  // that the departure is at least |n - s|. Far from n this bounds the weight well enough for
  // proposals.
  double weigh_lattice(double least_weight) {
    const double steps = -std::expm1(-utility_.lambda() * utility_.lattice_step());
    range_ = lattice_around(limit_);
    filtered_ = lattice_around(reach_of(least_weight, std::log2(2 / (kUnfiltered * steps))));
    log_weights_.clear();
    for (std::uint64_t i = range_.first; i <= range_.last; ++i) {
      log_weights_.push_back(log_weight(i));
    }
    const double largest = *std::ranges::max_element(log_weights_);
    total_ = 0;
    for (double& weight : log_weights_) {
      weight -= largest;
      total_ += std::exp(weight);
    }
    return largest + std::log(total_);
  }

  bool is_filtered(std::uint64_t index) const {
    return index >= filtered_.first && index <= filtered_.last;
  }

  double log_weight(std::uint64_t index) {
    const double s = utility_.lattice_point(index);
    if (!is_filtered(index)) return log_volume() - utility_.lambda() * std::abs(records_ - s);
    prepared_ = index;
    return proposal_->filter(s, limit_, context_.cancel);
  }

  std::uint64_t draw_lattice_index() {
    for (;;) {
      WeightedSampler scan(context_.random);
      for (std::size_t i = 0; i < log_weights_.size(); ++i) {
        if (scan.takes(std::exp(log_weights_[i]) / total_)) return range_.first + i;
      }
    }
  }

  // Makes a proposal for each of the lattice points. Fills in the positions of the first one that
  // is accepted, in the order of `lattice`, and returns whether there is one. All proposals for one
  // s are made together, because each s needs its own filtering.
  bool first_accepted(std::span<const std::uint64_t> lattice, std::span<Position> positions) {
    std::pmr::vector<std::size_t> order(lattice.size(), context_.memory);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return lattice[i]; });
    std::size_t first = lattice.size();
    std::pmr::vector<Position> proposed(positions.size(), context_.memory);
    for (const std::size_t attempt : order) {
      if (attempt > first || !propose(lattice[attempt], proposed)) continue;
      first = attempt;
      std::ranges::copy(proposed, positions.begin());
    }
    return first < lattice.size();
  }

  // Draws positions for a lattice point; returns whether they are accepted.
  bool propose(std::uint64_t index, std::span<Position> positions) {
    context_.cancel.tick(log_weights_.size() * gaps_.size());
    const double s = utility_.lattice_point(index);
    const double cost =
        is_filtered(index) ? propose_by_slots(index, positions) : propose_anywhere(s, positions);
    measure_gaps(positions);
    const double departure = utility_.departure(gaps_, s);
    return context_.random.unit_real() < std::exp(-utility_.lambda() * (departure - cost)) &&
           context_.random.unit_real() < share_of_least(departure);
  }

  // propose_by_slots() and propose_anywhere() draw positions with a probability proportional to
  // exp(-lambda cost). They return the cost, which is at most the departure of the positions.
  double propose_by_slots(std::uint64_t index, std::span<Position> positions) {
    if (prepared_ != index)
      proposal_->filter(utility_.lattice_point(index), limit_, context_.cancel);
    prepared_ = index;
    proposal_->draw(context_, path_);
    for (std::size_t k = 0; k < path_.size(); ++k) {
      positions[k] = draw_position(slots_[path_[k]].positions);
    }
    // Slots ascend, so sorting changes the order within a slot only.
    std::ranges::sort(positions);
    return proposal_->cost(path_);
  }

  double propose_anywhere(double s, std::span<Position> positions) {
    for (Position& position : positions) position = draw_position(interval_);
    std::ranges::sort(positions);
    return std::abs(records_ - s);
  }

  Position draw_position(PositionInterval interval) {
    return interval.begin + context_.random.uniform_below(interval.end - interval.begin);
  }

  void measure_gaps(std::span<const Position> positions) {
    ScaledRank previous = rank_.at(interval_.begin);
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const ScaledRank here = rank_.at(positions[k]);
      gaps_[k] = in_records(here - previous);
      previous = here;
    }
    gaps_.back() = in_records(rank_.at(interval_.end) - previous);
  }

  // exp(-lambda F) over the sum of exp(-lambda departure(s)) over the lattice. This is the fraction
  // of all proposals of these positions that the mechanism keeps.
  double share_of_least(double departure) const {
    const double lambda = utility_.lambda();
    double least = departure;
    double sum = 0;
    for (std::uint64_t i = range_.first; i <= range_.last; ++i) {
      const double other = utility_.departure(gaps_, utility_.lattice_point(i));
      if (other < least) {
        sum *= std::exp(-lambda * (least - other));
        least = other;
      }
      sum += std::exp(-lambda * (other - least));
    }
    return 1 / sum;
  }

  const SmearedRank& rank_;
  PositionInterval interval_;
  MechanismContext context_;
  double records_;
  JointUtility utility_;
  std::pmr::vector<double> targets_;
  std::pmr::vector<RankSlot> slots_;
  std::optional<JointProposal<Real>> proposal_;
  double limit_ = 0;                      // on the departure of what is proposed
  LatticeRange range_{};                  // of the lattice points within the limit
  LatticeRange filtered_{};               // of those whose positions are proposed by slots
  std::pmr::vector<double> log_weights_;  // by lattice index from range_.first on
  double total_ = 0;
  std::uint64_t prepared_ = 0;  // the lattice index that the slots were last filtered for
  std::pmr::vector<std::size_t> path_;
  std::pmr::vector<double> gaps_;
};

}  // namespace

double joint_lambda(double epsilon) {
  return std::min(epsilon * (1 - kRoundingSlack) / 2, kMostLambda);
}

void draw_joint_positions(const SmearedRank& rank, PositionInterval interval,
                          std::span<const double> quantiles, double epsilon,
                          const MechanismContext& context, std::span<Position> positions) {
  if (quantiles.empty() || quantiles.size() > kMaxJointQuantiles) {
    throw std::invalid_argument("a joint draw takes 1 to " + std::to_string(kMaxJointQuantiles) +
                                " quantiles");
  }
  if (rank.data().total() > kMaxJointRecords) {
    throw std::length_error("a joint draw of quantiles takes at most " +
                            std::to_string(kMaxJointRecords) + " rows in one group");
  }
  const double lambda = joint_lambda(epsilon);
  const double records = in_records(rank.at(interval.end) - rank.at(interval.begin));
  if (quantiles.size() <= kMostForDouble &&
      lambda * records_at_position(records) <= kMostCostForDouble) {
    JointMechanism<double>(rank, interval, quantiles, lambda, context).draw(positions);
  } else {
    JointMechanism<long double>(rank, interval, quantiles, lambda, context).draw(positions);
  }
}

}  // namespace dpquantile
