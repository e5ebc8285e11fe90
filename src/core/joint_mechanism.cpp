#include "core/joint_mechanism.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/joint_proposal.hpp"
#include "core/joint_utility.hpp"
#include "core/rank_slots.hpp"
#include "core/weighted_scan.hpp"

namespace dpquantile {

namespace {

// Pays for rounding: docs/privacy.md, "Floating point".
constexpr double kRoundingSlack = 1.0 / 1024;

// Lattice points are left out that all together have a probability below 2^-kTailBits.
constexpr double kTailBits = 72;

// The natural logarithm of a proposal's weight over its envelope: a finer cut takes longer to
// filter, a coarser one has more proposals refused.
constexpr double kEnvelope = 5;

// Up to so many quantiles the powers of a measure of 2^-56 are doubles, if lambda times the records
// at a position is no more than that.
constexpr std::size_t kMostForDouble = 16;
constexpr double kMostCostForDouble = 4;

// A larger lambda would have the weights of all positions underflow where hundreds of records lie
// on a position.
constexpr double kMostLambda = 40;

// Weights of slots are at most exp(kMostFarCost / 2) for all quantiles together.
constexpr double kMostFarCost = 20'000;

double in_records(ScaledRank rank) {
  return std::ldexp(static_cast<double>(rank), -int{kPositionBits});
}

// The most records that a position may have.
double records_at_position(double records) {
  return std::ldexp(records, -int{kPositionBits});
}

// Lattice indices, both ends included.
struct LatticeRange {
  std::uint64_t first;
  std::uint64_t last;
};

// One draw of joint quantiles: exact rejection from JointProposal over s on the lattice, slots and
// positions in them.
template <class Real>
class JointMechanism {
 public:
  JointMechanism(const SmearedRank& rank, PositionInterval interval,
                 std::span<const double> quantiles, double lambda, RandomStream& random,
                 CancelPoll& cancel, std::pmr::memory_resource* memory)
      : rank_(rank),
        interval_(interval),
        random_(random),
        cancel_(cancel),
        records_(in_records(rank.at(interval.end) - rank.at(interval.begin))),
        utility_(quantiles, lambda, memory),
        slots_(cut(quantiles, memory)),
        proposal_(slots_, records_, utility_, memory),
        log_weights_(memory),
        path_(quantiles.size(), memory),
        gaps_(quantiles.size() + 1, memory) {}

  void draw(std::span<Position> positions) {
    weigh_lattice();
    std::array<std::uint64_t, kAttemptsAtOnce> lattice;
    for (;;) {
      for (std::uint64_t& index : lattice) index = draw_lattice_index();
      if (first_accepted(lattice, positions)) return;
    }
  }

 private:
  static constexpr std::size_t kAttemptsAtOnce = 64;

  std::pmr::vector<RankSlot> cut(std::span<const double> quantiles,
                                 std::pmr::memory_resource* memory) {
    const auto b = static_cast<double>(quantiles.size());
    std::pmr::vector<double> targets(memory);
    for (const double quantile : quantiles) targets.push_back(quantile * records_);
    const double lambda = utility_.lambda();
    const SlotWidths widths{.targets = targets,
                            .finest = kEnvelope / (lambda * b),
                            .near = (4 + 2 * std::sqrt(b)) / lambda,
                            .growth = 1 / std::max(5.0, 2 * b),
                            .farthest = farthest()};
    return cut_into_slots(rank_, interval_, widths, cancel_, memory);
  }

  // With a quantile at the distance D from all targets F >= D; so all slots beyond have a
  // probability below 2^-kTailBits. For some positions, of measure at least 2^-56b, each gap is
  // wrong by no more than the records of a position and the coarseness of the lattice.
  double farthest() const {
    const auto b = static_cast<double>(utility_.quantiles());
    const double tail = (kTailBits + 56 * b) * std::numbers::ln2;
    const double coarseness =
        utility_.lambda() * ((b + 1) * records_at_position(records_) + utility_.lattice_step() / 2);
    return std::min(tail + coarseness, kMostFarCost) / utility_.lambda();
  }

  // The lattice points within `reach` of the number of records.
  LatticeRange lattice_around(double reach) const {
    const double step = utility_.lattice_step();
    return {static_cast<std::uint64_t>(std::ceil(std::max(records_ - reach, 0.0) / step)),
            static_cast<std::uint64_t>(std::floor((records_ + reach) / step))};
  }

  // The weights of all s that matter. As the gaps sum to n, F >= |n - s|; all positions together
  // have the volume 1 / b!. So beyond a reach r the weights sum to less than
  // 2 exp(-lambda r) / (b! (1 - exp(-lambda step))).
  void weigh_lattice() {
    const double lambda = utility_.lambda();
    const auto b = static_cast<double>(utility_.quantiles());
    double reach = (50 + 6 * b) / lambda;
    range_ = lattice_around(reach);
    for (std::uint64_t i = range_.first; i <= range_.last; ++i) {
      log_weights_.push_back(proposal_.filter(utility_.lattice_point(i), cancel_));
    }
    const double all = *std::ranges::max_element(log_weights_);
    const double beyond = std::numbers::ln2 - std::lgamma(b + 1) -
                          std::log(-std::expm1(-lambda * utility_.lattice_step()));
    reach = (beyond - all + kTailBits * std::numbers::ln2 + 2 * kEnvelope) / lambda;
    extend_lattice(lattice_around(reach));
    prepared_ = range_.last;
    const double largest = *std::ranges::max_element(log_weights_);
    total_ = 0;
    for (double& weight : log_weights_) {
      weight -= largest;
      total_ += std::exp(weight);
    }
  }

  void extend_lattice(LatticeRange wider) {
    for (; range_.last < wider.last; ++range_.last) {
      log_weights_.push_back(proposal_.filter(utility_.lattice_point(range_.last + 1), cancel_));
    }
    std::pmr::vector<double> before(log_weights_.get_allocator());
    for (std::uint64_t i = wider.first; i < range_.first; ++i) {
      before.push_back(proposal_.filter(utility_.lattice_point(i), cancel_));
    }
    log_weights_.insert(log_weights_.begin(), before.begin(), before.end());
    range_.first = std::min(range_.first, wider.first);
  }

  std::uint64_t draw_lattice_index() {
    for (;;) {
      WeightedScan scan(random_);
      for (std::size_t i = 0; i < log_weights_.size(); ++i) {
        if (scan.takes(std::exp(log_weights_[i]) / total_)) return range_.first + i;
      }
    }
  }

  // Makes a proposal for each of the lattice points; gives the positions of the first, in their
  // order, that is accepted. Proposals for one s are made together, as each s must be prepared.
  bool first_accepted(std::span<const std::uint64_t> lattice, std::span<Position> positions) {
    std::array<std::size_t, kAttemptsAtOnce> order;
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return lattice[i]; });
    std::size_t first = lattice.size();
    std::pmr::vector<Position> proposed(positions.size(), path_.get_allocator().resource());
    for (const std::size_t attempt : order) {
      if (attempt > first) continue;
      const double s = utility_.lattice_point(lattice[attempt]);
      if (prepared_ != lattice[attempt]) proposal_.filter(s, cancel_);
      prepared_ = lattice[attempt];
      if (!propose(s, proposed)) continue;
      first = attempt;
      std::ranges::copy(proposed, positions.begin());
    }
    return first < lattice.size();
  }

  // Draws positions for s; returns whether they are accepted.
  bool propose(double s, std::span<Position> positions) {
    proposal_.draw(random_, path_, cancel_);
    for (std::size_t k = 0; k < path_.size(); ++k) {
      const auto [begin, end] = slots_[path_[k]].positions;
      positions[k] = begin + random_.uniform_below(end - begin);
    }
    // Slots ascend, so this only sorts within them.
    std::ranges::sort(positions);
    measure_gaps(positions);
    const double departure = utility_.departure(gaps_, s);
    const double excess = departure - proposal_.cost(path_);
    return random_.unit_real() < std::exp(-utility_.lambda() * excess) &&
           random_.unit_real() < share_of_least(departure);
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

  // exp(-lambda F) over the sum of exp(-lambda departure(s)) over the lattice: the part of all
  // proposals of these positions that the mechanism keeps.
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
  RandomStream& random_;
  CancelPoll& cancel_;
  double records_;
  JointUtility utility_;
  std::pmr::vector<RankSlot> slots_;
  JointProposal<Real> proposal_;
  LatticeRange range_{};
  std::pmr::vector<double> log_weights_;  // by lattice index from range_.first on
  double total_ = 0;
  std::uint64_t prepared_ = 0;  // the lattice index that the proposal was last prepared for
  std::pmr::vector<std::size_t> path_;
  std::pmr::vector<double> gaps_;
};

}  // namespace

double joint_lambda(double epsilon) {
  return std::min(epsilon * (1 - kRoundingSlack) / 2, kMostLambda);
}

void draw_joint_positions(const SmearedRank& rank, PositionInterval interval,
                          std::span<const double> quantiles, double epsilon, RandomStream& random,
                          CancelPoll& cancel, std::pmr::memory_resource* memory,
                          std::span<Position> positions) {
  if (quantiles.empty() || quantiles.size() > kMaxJointQuantiles) {
    throw std::invalid_argument("too many joint quantiles");
  }
  const double lambda = joint_lambda(epsilon);
  const double records = in_records(rank.at(interval.end) - rank.at(interval.begin));
  if (quantiles.size() <= kMostForDouble &&
      lambda * records_at_position(records) <= kMostCostForDouble) {
    JointMechanism<double>(rank, interval, quantiles, lambda, random, cancel, memory)
        .draw(positions);
  } else {
    JointMechanism<long double>(rank, interval, quantiles, lambda, random, cancel, memory)
        .draw(positions);
  }
}

}  // namespace dpquantile
