#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "support/dataset.hpp"

// The law of a single quantile, computed directly from its definition on the real axis [0, cells].
// The density of p on [begin, end] is proportional to
//
//   exp(-lambda |R(p) - R(begin) - q n|),  n = R(end) - R(begin),
//   lambda = epsilon / (2 max(q, 1 - q)).
//
// This reference for tests shares no code with the mechanism and is not fast. It works with real
// positions and ranks, and the mechanism counts in units of 2^-24. The mechanism keeps back 2^-16
// of epsilon for rounding, which is far below what a sample can show.
namespace dpquantile::test {

using Real = long double;

// R(p): the number of records left of p, with each record spread evenly over its cell.
class RealRank {
 public:
  explicit RealRank(const Dataset& data) : knots_{{0, 0}} {
    std::map<std::uint32_t, Real> counts;
    for (const std::uint32_t cell : data.records) counts[cell] += 1;
    for (const auto& [cell, count] : counts) {
      const Real before = knots_.back().rank;
      knots_.push_back({static_cast<Real>(cell), before});
      knots_.push_back({static_cast<Real>(cell) + 1, before + count});
    }
    knots_.push_back({static_cast<Real>(data.cells), knots_.back().rank});
  }

  Real at(Real position) const {
    const auto right =
        std::upper_bound(knots_.begin(), knots_.end(), position,
                         [](Real wanted, const Knot& knot) { return wanted < knot.position; });
    if (right == knots_.end()) return knots_.back().rank;
    const Knot left = *std::prev(right);
    const Real share = (position - left.position) / (right->position - left.position);
    return left.rank + share * (right->rank - left.rank);
  }

  // The least position at which R reaches the rank, or the end for a rank above n.
  Real first_reaching(Real rank) const {
    const auto right =
        std::lower_bound(knots_.begin(), knots_.end() - 1, rank,
                         [](const Knot& knot, Real wanted) { return knot.rank < wanted; });
    if (right == knots_.begin() || right->rank < rank) return right->position;
    const Knot left = *std::prev(right);
    if (left.rank == right->rank) return left.position;
    const Real share = (rank - left.rank) / (right->rank - left.rank);
    return left.position + share * (right->position - left.position);
  }

  // The positions inside (begin, end) where the slope of R may change.
  std::vector<Real> bends(Real begin, Real end) const {
    std::vector<Real> positions;
    for (const Knot& knot : knots_) {
      if (begin < knot.position && knot.position < end) positions.push_back(knot.position);
    }
    return positions;
  }

 private:
  struct Knot {
    Real position;
    Real rank;
  };
  std::vector<Knot> knots_;
};

class QuantileDensity {
 public:
  QuantileDensity(const RealRank& rank, Real begin, Real end, Real q, Real epsilon)
      : rank_(&rank),
        target_(rank.at(begin) + q * (rank.at(end) - rank.at(begin))),
        lambda_(epsilon / (2 * std::max(q, 1 - q))),
        ends_(rank.bends(begin, end)) {
    ends_.push_back(begin);
    ends_.push_back(end);
    const Real crossing = rank.first_reaching(target_);
    if (begin < crossing && crossing < end) ends_.push_back(crossing);
    std::sort(ends_.begin(), ends_.end());
    least_ = distance(begin);
    for (const Real position : ends_) least_ = std::min(least_, distance(position));
    cumulative_.push_back(0);
    for (std::size_t i = 0; i + 1 < ends_.size(); ++i) {
      cumulative_.push_back(cumulative_.back() + weight(ends_[i], ends_[i + 1]));
    }
  }

  // The ends of the stretches on which |R(p) - target| is linear, ascending.
  const std::vector<Real>& stretch_ends() const { return ends_; }

  Real density(Real position) const { return weight_at(position) / total(); }

  // The probability of [from, to], without cancellation even if it is tiny.
  Real probability(Real from, Real to) const {
    Real sum = 0;
    for (std::size_t i = 0; i + 1 < ends_.size(); ++i) {
      const Real left = std::max(from, ends_[i]);
      const Real right = std::min(to, ends_[i + 1]);
      if (left < right) sum += weight(left, right);
    }
    return sum / total();
  }

  // The position before which the probability is u, 0 <= u <= 1.
  Real position_after(Real u) const {
    const Real wanted = u * total();
    const auto after = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, wanted);
    const auto stretch =
        static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - cumulative_.begin() - 1, 0));
    Real low = ends_[stretch];
    Real high = stretch + 1 < ends_.size() ? ends_[stretch + 1] : low;
    for (int i = 0; i < 100; ++i) {
      const Real middle = low + (high - low) / 2;
      const bool before = cumulative_[stretch] + weight(ends_[stretch], middle) < wanted;
      (before ? low : high) = middle;
    }
    return high;
  }

 private:
  Real distance(Real position) const { return std::fabs(rank_->at(position) - target_); }
  Real weight_at(Real position) const { return std::exp(-lambda_ * (distance(position) - least_)); }
  Real total() const { return cumulative_.back(); }

  // The integral of the weight over a part of one stretch.
  Real weight(Real from, Real to) const {
    const Real x = lambda_ * (distance(from) - least_);
    const Real y = lambda_ * (distance(to) - least_);
    const Real fall = std::fabs(y - x);
    const Real mean = fall < 1e-15L ? Real{1} : -std::expm1(-fall) / fall;
    return (to - from) * std::exp(-std::min(x, y)) * mean;
  }

  const RealRank* rank_;
  Real target_;
  Real lambda_;
  Real least_ = 0;
  std::vector<Real> ends_;
  std::vector<Real> cumulative_;
};

}  // namespace dpquantile::test
