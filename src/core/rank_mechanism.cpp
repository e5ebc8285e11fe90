#include "core/rank_mechanism.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include "core/integers.hpp"

namespace dpquantile {

namespace {

// Pays for rounding: docs/privacy.md, "Floating point".
constexpr double kRoundingSlack = 1.0 / 65536;

// Positions whose joint probability is below 2^-kTailBits are not considered.
constexpr double kTailBits = 72;

// Integer weights sum to less than 2^kTotalBits (and one for each piece).
constexpr int kTotalBits = 126;

// Consecutive positions on one side of the target rank within one cell or one gap between occupied
// cells: counted from the one nearest to the target, R departs from the target by slope a position.
struct Piece {
  Position nearest;
  std::uint64_t length;
  bool ascending;  // positions grow with the distance to the target
  ScaledRank distance;
  ScaledRank slope;

  Position at(std::uint64_t offset) const {
    return ascending ? nearest + offset : nearest - offset;
  }
};

// Walks over the pieces of a window, in order of position.
class PieceCursor {
 public:
  PieceCursor(const SmearedRank& rank, ScaledRank target, PositionInterval window, std::size_t run)
      : rank_(&rank), target_(target), position_(window.begin), end_(window.end), run_(run) {}

  std::optional<Piece> next() {
    if (position_ >= end_) return std::nullopt;
    const Histogram& data = rank_->data();
    if (run_ < data.runs() && data.cell(run_) == cell_at(position_)) return next_in_cell();
    return next_gap();
  }

 private:
  Piece next_gap() {
    const Histogram& data = rank_->data();
    const Position gap_end =
        run_ < data.runs() ? std::min(end_, cell_start(data.cell(run_))) : end_;
    const Piece gap{position_, gap_end - position_, true, std::abs(rank_->before(run_) - target_),
                    0};
    position_ = gap_end;
    return gap;
  }

  Piece next_in_cell() {
    const std::uint64_t cell = rank_->data().cell(run_);
    const ScaledRank slope = rank_->slope(run_);
    const Position piece_end = std::min(end_, cell_start(cell + 1));
    const ScaledRank offset = static_cast<ScaledRank>(position_ - cell_start(cell));
    const ScaledRank departure = rank_->before(run_) + slope * offset - target_;
    if (departure >= 0) {
      const Piece rising{position_, piece_end - position_, true, departure, slope};
      position_ = piece_end;
      if (piece_end == cell_start(cell + 1)) ++run_;
      return rising;
    }
    const auto below_target = static_cast<std::uint64_t>((-departure + slope - 1) / slope);
    const std::uint64_t length = std::min<std::uint64_t>(below_target, piece_end - position_);
    const ScaledRank last = departure + slope * static_cast<ScaledRank>(length - 1);
    const Piece falling{position_ + length - 1, length, false, -last, slope};
    position_ += length;
    if (position_ == cell_start(cell + 1)) ++run_;
    return falling;
  }

  const SmearedRank* rank_;
  ScaledRank target_;
  Position position_;
  Position end_;
  std::size_t run_;
};

// The least |R(p) - target| over an interval. R is monotone, so it is attained at one of the two
// neighbouring positions between which R crosses the target, clipped to the interval.
ScaledRank least_distance(const SmearedRank& rank, PositionInterval interval, ScaledRank target) {
  const std::size_t run = rank.first_run_reaching(target);
  Position crossing = interval.end - 1;
  if (run < rank.data().runs()) {
    const ScaledRank inside = std::max<ScaledRank>(target - rank.before(run), 0);
    crossing = cell_start(rank.data().cell(run)) + static_cast<Position>(inside / rank.slope(run));
  }
  ScaledRank least = std::numeric_limits<ScaledRank>::max();
  for (const Position candidate : {crossing, crossing + 1}) {
    const Position clipped = std::clamp(candidate, interval.begin, interval.end - 1);
    least = std::min(least, std::abs(rank.at(clipped) - target));
  }
  return least;
}

// j on {0, ..., length - 1} with probability proportional to exp(-rate j).
std::uint64_t truncated_geometric(RandomStream& random, double rate, std::uint64_t length) {
  // Within a block the weight falls by at most e, so that few draws are refused.
  const double block_length = std::clamp(std::floor(1 / rate), 1.0, static_cast<double>(length));
  const auto block = static_cast<std::uint64_t>(block_length);
  const double next_block = std::exp(-rate * block_length);
  for (;;) {
    const std::uint64_t offset = random.uniform_below(block);
    if (random.unit_real() >= std::exp(-rate * static_cast<double>(offset))) continue;
    std::uint64_t draw = offset;
    while (draw < length && block < length && random.unit_real() < next_block) draw += block;
    if (draw < length) return draw;
  }
}

// One draw from the mechanism, once its interval, target and lambda are fixed.
class RankMechanism {
 public:
  RankMechanism(const SmearedRank& rank, PositionInterval interval, ScaledRank target,
                double lambda, std::pmr::memory_resource* memory)
      : rank_(rank),
        interval_(interval),
        target_(target),
        lambda_(lambda),
        least_distance_(least_distance(rank, interval, target)),
        weight_bits_(kTotalBits - static_cast<int>(std::bit_width(interval.end - interval.begin))),
        checkpoints_(memory) {}

  Position draw(RandomStream& random, CancelPoll& cancel) {
    const uint128_t total = sum_weights(cancel);
    const Piece piece = find_piece(random.uniform_below_128(total), cancel);
    if (piece.slope == 0) return piece.at(random.uniform_below(piece.length));
    return piece.at(truncated_geometric(random, rate(piece), piece.length));
  }

 private:
  static constexpr std::size_t kCheckpointPieces = 64;

  // Where the walk stands when this much weight lies before it.
  struct Checkpoint {
    uint128_t weight_before;
    PieceCursor cursor;
  };

  double rate(const Piece& piece) const { return lambda_ * static_cast<double>(piece.slope); }

  // Sum of exp(-lambda (|R(p) - target| - least distance)) over the piece, as an integer multiple
  // of 2^-weight_bits_. A position's weight is at most 1, so the sum over the interval is below
  // 2^kTotalBits.
  uint128_t weight(const Piece& piece) const {
    const double nearest =
        std::exp(-lambda_ * static_cast<double>(piece.distance - least_distance_));
    const double length = static_cast<double>(piece.length);
    const double sum =
        piece.slope == 0 ? length : std::expm1(-rate(piece) * length) / std::expm1(-rate(piece));
    return static_cast<uint128_t>(std::ldexp(nearest * sum, weight_bits_));
  }

  // The walk over all positions but those so far from the target that, all together, they have a
  // probability below 2^-kTailBits.
  PieceCursor window() const {
    const double tail =
        std::numbers::ln2 *
        (kTailBits + static_cast<double>(std::bit_width(interval_.end - interval_.begin)));
    const double reach = std::min(std::ceil(tail / lambda_), std::ldexp(1.0, 61));
    const ScaledRank distance = least_distance_ + static_cast<ScaledRank>(reach);
    const Histogram& data = rank_.data();

    const std::size_t first = std::max(rank_.first_run_reaching(target_ - distance),
                                       data.first_run_from(cell_at(interval_.begin)));
    const std::size_t beyond = rank_.first_run_beyond(target_ + distance);
    const Position begin = first == 0 ? 0 : cell_start(std::uint64_t{data.cell(first - 1)} + 1);
    const Position end = beyond == data.runs() ? interval_.end : cell_start(data.cell(beyond));
    const PositionInterval window{std::max(begin, interval_.begin), std::min(end, interval_.end)};
    return PieceCursor(rank_, target_, window, first);
  }

  uint128_t sum_weights(CancelPoll& cancel) {
    uint128_t total = 0;
    PieceCursor cursor = window();
    for (std::size_t pieces = 0;; ++pieces) {
      cancel.tick();
      if (pieces % kCheckpointPieces == 0) checkpoints_.push_back({total, cursor});
      const std::optional<Piece> piece = cursor.next();
      if (!piece) return total;
      total += weight(*piece);
    }
  }

  // The piece in which the cumulative weight first exceeds `drawn`.
  Piece find_piece(uint128_t drawn, CancelPoll& cancel) const {
    const auto after = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), drawn,
                                        [](uint128_t value, const Checkpoint& checkpoint) {
                                          return value < checkpoint.weight_before;
                                        });
    Checkpoint checkpoint = *std::prev(after);
    for (;;) {
      cancel.tick();
      const Piece piece = *checkpoint.cursor.next();
      checkpoint.weight_before += weight(piece);
      if (drawn < checkpoint.weight_before) return piece;
    }
  }

  const SmearedRank& rank_;
  PositionInterval interval_;
  ScaledRank target_;
  double lambda_;
  ScaledRank least_distance_;
  int weight_bits_;
  std::pmr::vector<Checkpoint> checkpoints_;
};

}  // namespace

double rank_lambda(double q, double epsilon) {
  return epsilon * (1 - kRoundingSlack) / (2 * std::max(q, 1 - q));
}

Position draw_quantile_position(const SmearedRank& rank, PositionInterval interval, double q,
                                double epsilon, RandomStream& random, CancelPoll& cancel,
                                std::pmr::memory_resource* memory) {
  const ScaledRank begin = rank.at(interval.begin);
  const ScaledRank mass = rank.at(interval.end) - begin;
  const auto share = static_cast<ScaledRank>(std::floor(q * static_cast<double>(mass)));
  const ScaledRank target = begin + std::min(share, mass);
  const double lambda = std::ldexp(rank_lambda(q, epsilon), -int{kPositionBits});
  return RankMechanism(rank, interval, target, lambda, memory).draw(random, cancel);
}

}  // namespace dpquantile
