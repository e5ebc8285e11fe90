#include "core/exponential/joint_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/wide_real.hpp"
#include "core/exponential/joint_preparation.hpp"
#include "core/exponential/joint_proposal.hpp"
#include "core/exponential/joint_utility.hpp"
#include "core/exponential/small_joint_mechanism.hpp"

namespace dpquantile {

namespace {

// Pays for rounding: docs/privacy.md, "Floating point".
constexpr double kRoundingSlack = 1.0 / 1024;

// Up to kMostForDouble quantiles the powers of a measure of 2^-56 are doubles. Then doubles are
// enough if lambda times the records at any position is at most kMostCostForDouble.
constexpr std::size_t kMostForDouble = 16;
constexpr double kMostCostForDouble = 4;

constexpr char kTooLittle[] = "the proposals of a joint draw weigh too little";

// Batches without an accepted proposal after which the slots are made finer. Chance alone hardly
// ever refuses as many.
constexpr int kBatchesBeforeRefining = 3;

// This is far less noise than anyone needs. A larger lambda would need farther proposals where many
// records lie on one position (docs/privacy.md, "Floating point").
constexpr double kMostLambda = 8;

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
        utility_(quantiles, lambda, context.memory),
        preparation_(rank, interval, utility_, context),
        path_(quantiles.size(), context.memory),
        gaps_(quantiles.size() + 1, context.memory) {}

  // Appends all accepted proposals of whole batches, at least `least`. Each is a draw by itself. A
  // part of a batch would not do: its proposals are in the order of s.
  // Returns false, before anything is drawn, if Real does not hold the weights.
  bool draw_batches(std::size_t least, std::pmr::vector<Position>& draws) {
    if (!preparation_.covers_least()) return false;
    std::pmr::vector<std::uint64_t> lattice(attempts_at_once(), context_.memory);
    std::pmr::vector<Position> proposed(path_.size(), context_.memory);
    while (draws.size() < least * path_.size()) {
      context_.cancel.check();
      for (std::uint64_t& index : lattice) index = preparation_.draw_lattice_index();
      std::ranges::sort(lattice);
      for (const std::uint64_t index : lattice) {
        if (propose(index, proposed)) draws.insert(draws.end(), proposed.begin(), proposed.end());
      }
    }
    return true;
  }

  // Returns false, before anything is drawn, if Real does not hold the weights.
  bool draw(std::span<Position> positions) {
    if (!preparation_.covers_least()) return false;
    std::pmr::vector<std::uint64_t> lattice(attempts_at_once(), context_.memory);
    for (int failed = 1;; ++failed) {
      context_.cancel.check();
      for (std::uint64_t& index : lattice) index = preparation_.draw_lattice_index();
      if (first_accepted(lattice, positions)) return true;
      if (failed % kBatchesBeforeRefining == 0) preparation_.refine();
    }
  }

 private:
  // With this many attempts a batch rarely has no accepted proposal.
  std::size_t attempts_at_once() const {
    return static_cast<std::size_t>(8 * std::exp(finest_envelope(utility_.quantiles())));
  }

  // Makes a proposal for each of the lattice points. Fills in the positions of the first one that
  // is accepted, in the order of `lattice`, and returns whether there is one. All proposals for one
  // s are made together, because each s needs its own filtering; first those for the s that is
  // prepared.
  bool first_accepted(std::span<const std::uint64_t> lattice, std::span<Position> positions) {
    std::pmr::vector<std::size_t> order(lattice.size(), context_.memory);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::uint64_t prepared = preparation_.prepared();
    std::ranges::stable_sort(
        order, {}, [&](std::size_t i) { return std::pair(lattice[i] != prepared, lattice[i]); });
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
    const LatticeRange& range = preparation_.range();
    context_.cancel.tick((range.last - range.first + 1) * gaps_.size());
    const double s = utility_.lattice_point(index);
    const double cost = preparation_.filtered().has(index) ? propose_by_slots(index, positions)
                                                           : propose_anywhere(s, positions);
    measure_gaps(positions);
    const double departure = utility_.departure(gaps_, s);
    return context_.random.unit_real() < std::exp(-utility_.lambda() * (departure - cost)) &&
           context_.random.unit_real() < share_of_least(departure);
  }

  // propose_by_slots() and propose_anywhere() draw positions with a probability proportional to
  // exp(-lambda cost). They return the cost, which is at most the departure of the positions.
  double propose_by_slots(std::uint64_t index, std::span<Position> positions) {
    const JointProposal<Real>& proposal = preparation_.proposal_at(index);
    proposal.draw(context_, path_);
    for (std::size_t k = 0; k < path_.size(); ++k) {
      positions[k] = draw_position(preparation_.slots()[path_[k]].positions);
    }
    // Slots ascend, so sorting changes the order within a slot only.
    std::ranges::sort(positions);
    return proposal.cost(path_);
  }

  double propose_anywhere(double s, std::span<Position> positions) {
    for (Position& position : positions) position = draw_position(interval_);
    std::ranges::sort(positions);
    return std::abs(preparation_.records() - s);
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
    const LatticeRange& range = preparation_.range();
    double least = departure;
    double sum = 0;
    for (std::uint64_t i = range.first; i <= range.last; ++i) {
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
  JointUtility utility_;
  JointPreparation<Real> preparation_;
  std::pmr::vector<std::size_t> path_;
  std::pmr::vector<double> gaps_;
};

template <class Real>
bool draw_general_joint_positions(const SmearedRank& rank, PositionInterval interval,
                                  std::span<const double> quantiles, double lambda,
                                  const MechanismContext& context, std::span<Position> positions) {
  return JointMechanism<Real>(rank, interval, quantiles, lambda, context).draw(positions);
}

// Doubles suffice up to a number of records at one position. The limit is drawn anew each time, so
// that a record more or less hardly ever decides.
bool doubles_suffice(std::size_t quantiles, double lambda, double most_at_position,
                     RandomStream& random) {
  const double limit = kMostCostForDouble * (1 - random.unit_real() / 2);
  return quantiles <= kMostForDouble && lambda * most_at_position <= limit;
}

void check_joint_draw(const SmearedRank& rank, std::size_t quantiles, double epsilon) {
  if (quantiles == 0 || quantiles > kMaxJointQuantiles) {
    throw std::invalid_argument("a joint draw takes 1 to " + std::to_string(kMaxJointQuantiles) +
                                " quantiles");
  }
  if (!(epsilon >= min_joint_epsilon(quantiles))) {
    throw std::invalid_argument("a joint draw of quantiles needs a larger epsilon");
  }
  if (rank.data().total() > kMaxJointRecords) {
    throw std::length_error("a joint draw of quantiles takes at most " +
                            std::to_string(kMaxJointRecords) + " rows in one group");
  }
}

}  // namespace

double min_joint_epsilon(std::size_t quantiles) {
  if (quantiles <= 4) return 1e-7;
  return quantiles <= kMostForDouble ? 2e-7 : 6e-7;
}

double joint_lambda(double epsilon) {
  return std::min(epsilon * (1 - kRoundingSlack) / 2, kMostLambda);
}

void draw_joint_positions(const SmearedRank& rank, PositionInterval interval,
                          std::span<const double> quantiles, double epsilon,
                          const MechanismContext& context, std::span<Position> positions) {
  check_joint_draw(rank, quantiles.size(), epsilon);
  const double lambda = joint_lambda(epsilon);
  const double most = rank.most_at_position(interval.begin, interval.end);
  if (doubles_suffice(quantiles.size(), lambda, most, context.random)) {
    const auto draw_in_doubles = quantiles.size() <= kMostSmallJoint
                                     ? draw_small_joint_positions
                                     : draw_general_joint_positions<double>;
    if (draw_in_doubles(rank, interval, quantiles, lambda, context, positions)) return;
  }
  if (draw_general_joint_positions<WideReal>(rank, interval, quantiles, lambda, context,
                                             positions)) {
    return;
  }
  throw std::logic_error(kTooLittle);
}

std::pmr::vector<Position> simulate_joint_positions(const SmearedRank& rank,
                                                    PositionInterval interval,
                                                    std::span<const double> quantiles,
                                                    double epsilon, std::size_t least,
                                                    const MechanismContext& context) {
  check_joint_draw(rank, quantiles.size(), epsilon);
  const double lambda = joint_lambda(epsilon);
  std::pmr::vector<Position> draws(context.memory);
  const double most = rank.most_at_position(interval.begin, interval.end);
  if (doubles_suffice(quantiles.size(), lambda, most, context.random) &&
      JointMechanism<double>(rank, interval, quantiles, lambda, context)
          .draw_batches(least, draws)) {
    return draws;
  }
  if (JointMechanism<WideReal>(rank, interval, quantiles, lambda, context)
          .draw_batches(least, draws)) {
    return draws;
  }
  throw std::logic_error(kTooLittle);
}

}  // namespace dpquantile
