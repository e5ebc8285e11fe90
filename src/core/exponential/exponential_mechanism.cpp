#include "core/exponential/exponential_mechanism.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "core/base/int128.hpp"

namespace dpquantile {

namespace {

// Pays for rounding: docs/privacy.md, "Floating point".
constexpr double kRoundingSlack = 1.0 / 65536;

// The integer weights sum to less than 2^kTotalBits, up to rounding.
constexpr int kTotalBits = 126;

// If the density at the start of a piece is e^-x of the largest, it falls within the piece by a
// factor of at most e^(kFall + kFallGrowth x). Longer pieces leave fewer of them to weigh; shorter
// pieces lead to fewer refused draws.
constexpr double kFall = 1.5;
constexpr double kFallGrowth = 0.125;

// Consecutive positions on one side of the target rank, with ranks at about the same distance from
// it.
struct Piece {
  PositionInterval positions;
  ScaledRank distance;  // from the target to the nearest rank
  uint128_t weight_before;
};

ScaledRank whole_rank(double rank) {
  return static_cast<ScaledRank>(std::min(rank, std::ldexp(1.0, 60)));
}

// Draws once from the mechanism with a fixed interval, target and lambda, by exact rejection from a
// density that is constant on each piece.
class RankMechanism {
 public:
  RankMechanism(const SmearedRank& rank, PositionInterval interval, ScaledRank target,
                double lambda, std::pmr::memory_resource* memory)
      : rank_(rank),
        interval_(interval),
        target_(target),
        lambda_(lambda),
        last_below_(std::min(rank.last_within(target), interval.end - 1)),
        least_distance_(least_distance()),
        weight_bits_(kTotalBits - length_bits()),
        pieces_(memory) {
    pieces_.reserve(kMostPieces);
  }

  Position draw(const MechanismContext& context) {
    cut(context.cancel);
    for (;;) {
      context.cancel.tick();
      const Piece& piece = piece_at(context.random.uniform_below_128(total_));
      const auto [begin, end] = piece.positions;
      const Position position = begin + context.random.uniform_below(end - begin);
      const ScaledRank excess = distance(position) - piece.distance;
      if (context.random.unit_real() < falloff(excess)) return position;
    }
  }

 private:
  static constexpr std::size_t kMostPieces = 40;  // 20 on each side reach beyond the tail

  int length_bits() const {
    return static_cast<int>(std::bit_width(interval_.end - interval_.begin));
  }
  ScaledRank distance(Position position) const { return std::abs(rank_.at(position) - target_); }

  // R is monotone, so the least distance is at one of the two positions where R crosses the target.
  ScaledRank least_distance() const {
    const ScaledRank below = distance(last_below_);
    const Position above = last_below_ + 1;
    return above == interval_.end ? below : std::min(below, distance(above));
  }

  // The factor by which the density falls when the distance to the target grows by `ranks`.
  double falloff(ScaledRank ranks) const { return std::exp(-lambda_ * static_cast<double>(ranks)); }

  // The most by which ranks may differ within a piece at this distance from the target.
  ScaledRank width(ScaledRank distance) const {
    return whole_rank(kFall / lambda_ +
                      kFallGrowth * static_cast<double>(distance - least_distance_));
  }

  // Cuts the interval into pieces from the target outwards. Leaves out positions so far from the
  // target that their total probability is below 2^-kTailBits.
  void cut(CancelPoll& cancel) {
    const double tail = std::numbers::ln2 * (kTailBits + length_bits());
    const ScaledRank farthest = least_distance_ + whole_rank(std::ceil(tail / lambda_));
    cut_above(farthest, cancel);
    cut_below(farthest, cancel);
  }

  void cut_above(ScaledRank farthest, CancelPoll& cancel) {
    for (Position begin = last_below_ + 1; begin < interval_.end;) {
      cancel.tick();
      const ScaledRank rank = rank_.at(begin);
      const ScaledRank distance = rank - target_;
      if (distance > farthest) return;
      const Position last = std::min(rank_.last_within(rank + width(distance)), interval_.end - 1);
      add({begin, last + 1}, distance);
      begin = last + 1;
    }
  }

  void cut_below(ScaledRank farthest, CancelPoll& cancel) {
    for (Position end = last_below_ + 1; end > interval_.begin;) {
      cancel.tick();
      const ScaledRank rank = rank_.at(end - 1);
      const ScaledRank distance = target_ - rank;
      if (distance > farthest) return;
      const Position begin =
          std::max(rank_.first_reaching(rank - width(distance)), interval_.begin);
      add({begin, end}, distance);
      end = begin;
    }
  }

  // The weight of a piece, in units of 2^-weight_bits_, is what it would be if all positions were
  // as near to the target as the nearest one. A position's weight is at most 1, so the sum is below
  // 2^kTotalBits.
  void add(PositionInterval positions, ScaledRank distance) {
    const double weight =
        static_cast<double>(positions.end - positions.begin) * falloff(distance - least_distance_);
    pieces_.push_back({positions, distance, total_});
    total_ += static_cast<uint128_t>(std::ldexp(weight, weight_bits_));
  }

  // The piece in which the cumulative weight first exceeds `drawn`.
  const Piece& piece_at(uint128_t drawn) const {
    const auto after = std::ranges::upper_bound(pieces_, drawn, {}, &Piece::weight_before);
    return *std::prev(after);
  }

  const SmearedRank& rank_;
  PositionInterval interval_;
  ScaledRank target_;
  double lambda_;
  Position last_below_;  // the last position whose rank is at most the target
  ScaledRank least_distance_;
  int weight_bits_;
  std::pmr::vector<Piece> pieces_;
  uint128_t total_ = 0;
};

}  // namespace

double rank_lambda(double q, double epsilon) {
  return epsilon * (1 - kRoundingSlack) / (2 * std::max(q, 1 - q));
}

Position draw_quantile_position(const SmearedRank& rank, PositionInterval interval, double q,
                                double epsilon, const MechanismContext& context) {
  if (!(epsilon >= kMinDrawEpsilon)) {
    throw std::invalid_argument("a draw of a quantile needs a larger epsilon");
  }
  const ScaledRank begin = rank.at(interval.begin);
  const ScaledRank mass = rank.at(interval.end) - begin;
  const auto share = static_cast<ScaledRank>(std::floor(q * static_cast<double>(mass)));
  const ScaledRank target = begin + std::min(share, mass);
  const double lambda = std::ldexp(rank_lambda(q, epsilon), -int{kPositionBits});
  return RankMechanism(rank, interval, target, lambda, context.memory).draw(context);
}

}  // namespace dpquantile
