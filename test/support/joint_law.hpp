#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "support/dataset.hpp"
#include "support/quantile_density.hpp"

// The law of joint quantiles, computed directly from its definition: b sorted uniform positions
// p_1 <= .. <= p_b of an interval, weighted by exp(-lambda F(p)),
//
//   F = min over s in {0, step, 2 step, ..} of sum over k of |n_k - d_k s|,
//   lambda = epsilon (1 - 2^-10) / 2,  step = (b + 1) min(1, (b + 1) / 10) / lambda.
//
// This reference for tests shares no code with the mechanism. The integral is a sum over all sorted
// tuples of points. A cell with records has many points. Another cell needs only one, because F is
// constant there.
namespace dpquantile::test {

// F as a function of the numbers of records in the gaps. There is one more gap than quantiles.
class JointDeparture {
 public:
  JointDeparture(std::span<const double> quantiles, Real epsilon)
      : lambda_(epsilon * (1 - 1.0L / 1024) / 2) {
    Real previous = 0;
    for (const double quantile : quantiles) {
      shares_.push_back(static_cast<Real>(quantile) - previous);
      previous = quantile;
    }
    shares_.push_back(1 - previous);
    const auto gaps = static_cast<Real>(shares_.size());
    step_ = gaps * std::min(1.0L, gaps / 10) / lambda_;
  }

  Real lambda() const { return lambda_; }
  Real step() const { return step_; }

  Real at(std::span<const Real> gaps, Real s) const {
    Real sum = 0;
    for (std::size_t k = 0; k < gaps.size(); ++k) sum += std::fabs(gaps[k] - shares_[k] * s);
    return sum;
  }

  // As a function of s the sum is convex and bends where a gap has its share of s. So the lattice
  // point with the least value is next to the best bend.
  Real least(std::span<const Real> gaps) const {
    Real best = 0;
    Real best_departure = at(gaps, 0);
    for (std::size_t k = 0; k < gaps.size(); ++k) {
      if (shares_[k] <= 0) continue;
      const Real bend = gaps[k] / shares_[k];
      const Real departure = at(gaps, bend);
      if (departure < best_departure) {
        best_departure = departure;
        best = bend;
      }
    }
    const Real below = std::floor(best / step_) * step_;
    return std::min(at(gaps, below), at(gaps, below + step_));
  }

 private:
  Real lambda_;
  Real step_ = 0;
  std::vector<Real> shares_;
};

// A stretch of the axis. The sum gives all its positions the same rank.
struct JointPoint {
  std::uint32_t cell;
  Real position;  // the middle of the stretch
  Real rank;
  Real measure;  // the stretch's part of the interval
};

// The points for an interval [begin, end) of the axis: points_per_cell in each cell with records,
// points_in_gaps in each cell without records.
inline std::vector<JointPoint> joint_points(const Dataset& data, Real begin, Real end,
                                            int points_per_cell, int points_in_gaps = 1) {
  const RealRank rank(data);
  std::vector<JointPoint> points;
  const auto first_cell = static_cast<std::uint32_t>(begin);
  for (std::uint32_t cell = first_cell; static_cast<Real>(cell) < end; ++cell) {
    const Real low = std::max(begin, static_cast<Real>(cell));
    const Real high = std::min(end, static_cast<Real>(cell) + 1);
    const bool occupied = rank.at(low) < rank.at(high);
    const int parts = occupied ? points_per_cell : points_in_gaps;
    const Real width = (high - low) / static_cast<Real>(parts);
    for (int i = 0; i < parts; ++i) {
      const Real middle = low + (static_cast<Real>(i) + 0.5L) * width;
      points.push_back({cell, middle, rank.at(middle) - rank.at(begin), width / (end - begin)});
    }
  }
  return points;
}

// Calls visit(indices of points, weight) for all ascending tuples. The weights are not normalised.
template <class Visit>
class JointTuples {
 public:
  JointTuples(const std::vector<JointPoint>& points, Real records, const JointDeparture& departure,
              std::size_t quantiles, Visit visit)
      : points_(points),
        records_(records),
        departure_(departure),
        visit_(visit),
        tuple_(quantiles),
        gaps_(quantiles + 1) {}

  void visit_all() { place(0, 0, 0, 1, 0); }

 private:
  void place(std::size_t k, std::size_t first, Real rank, Real volume, std::size_t same) {
    if (k == tuple_.size()) {
      gaps_[k] = records_ - rank;
      visit_(tuple_, volume * std::exp(-departure_.lambda() * departure_.least(gaps_)));
      return;
    }
    for (std::size_t i = first; i < points_.size(); ++i) {
      const std::size_t together = (k > 0 && tuple_[k - 1] == i) ? same + 1 : 1;
      tuple_[k] = i;
      gaps_[k] = points_[i].rank - rank;
      const Real measure = points_[i].measure / static_cast<Real>(together);
      place(k + 1, i, points_[i].rank, volume * measure, together);
    }
  }

  const std::vector<JointPoint>& points_;
  Real records_;
  JointDeparture departure_;
  Visit visit_;
  std::vector<std::size_t> tuple_;
  std::vector<Real> gaps_;
};

// The probabilities of all ascending tuples of points, in an order that depends only on the numbers
// of points and quantiles.
inline std::vector<Real> joint_tuple_law(const std::vector<JointPoint>& points, Real records,
                                         std::span<const double> quantiles, Real epsilon) {
  std::vector<Real> law;
  Real total = 0;
  const auto add = [&](const std::vector<std::size_t>&, Real weight) {
    law.push_back(weight);
    total += weight;
  };
  JointTuples(points, records, JointDeparture(quantiles, epsilon), quantiles.size(), add)
      .visit_all();
  for (Real& probability : law) probability /= total;
  return law;
}

using JointCells = std::vector<std::uint32_t>;
using JointCellLaw = std::map<JointCells, Real>;

// The probabilities of the cells of ascending, distinct quantiles.
inline JointCellLaw joint_law(const Dataset& data, std::span<const double> quantiles, Real epsilon,
                              int points_per_cell) {
  const std::vector<JointPoint> points =
      joint_points(data, 0, static_cast<Real>(data.cells), points_per_cell);
  const JointDeparture departure(quantiles, epsilon);
  JointCellLaw law;
  Real total = 0;
  JointCells cells(quantiles.size());
  const auto add = [&](const std::vector<std::size_t>& tuple, Real weight) {
    for (std::size_t k = 0; k < tuple.size(); ++k) cells[k] = points[tuple[k]].cell;
    law[cells] += weight;
    total += weight;
  };
  JointTuples(points, static_cast<Real>(data.records.size()), departure, quantiles.size(), add)
      .visit_all();
  for (auto& [outcome, probability] : law) probability /= total;
  return law;
}

// The law of the cells of three quantiles. The first two are drawn jointly, the third between the
// second and the end.
inline JointCellLaw joint_then_one_law(const Dataset& data, const std::vector<double>& quantiles,
                                       Real joint_epsilon, Real one_epsilon, int points_per_cell) {
  const auto end = static_cast<Real>(data.cells);
  const RealRank rank(data);
  const std::vector<double> first = {quantiles[0], quantiles[1]};
  const Real relative =
      (static_cast<Real>(quantiles[2]) - quantiles[1]) / (1 - static_cast<Real>(quantiles[1]));
  const std::vector<JointPoint> points =
      joint_points(data, 0, end, points_per_cell, points_per_cell);
  std::map<std::size_t, QuantileDensity> behind;
  JointCellLaw law;
  Real total = 0;
  const auto add = [&](const std::vector<std::size_t>& tuple, Real weight) {
    const JointPoint& cut = points[tuple[1]];
    const auto density =
        behind.try_emplace(tuple[1], rank, cut.position, end, relative, one_epsilon).first;
    for (std::uint32_t cell = cut.cell; cell < data.cells; ++cell) {
      const Real start = static_cast<Real>(cell);
      law[{points[tuple[0]].cell, cut.cell, cell}] +=
          weight * density->second.probability(start, start + 1);
    }
    total += weight;
  };
  JointTuples(points, static_cast<Real>(data.records.size()), JointDeparture(first, joint_epsilon),
              2, add)
      .visit_all();
  for (auto& [cells, probability] : law) probability /= total;
  return law;
}

}  // namespace dpquantile::test
