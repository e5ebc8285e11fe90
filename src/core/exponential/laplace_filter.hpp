#pragma once

#include <cmath>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/cancel.hpp"

namespace dpquantile {

// Indices first .. end - 1.
struct IndexRange {
  std::size_t first;
  std::size_t end;

  std::size_t size() const { return first < end ? end - first : 0; }
};

// Sums with a shifted Laplace kernel over the earlier ones of ascending points x_i:
//
//   out[i] = sum over k < i, k in a range, of in[k] exp(-lambda |x_i - x_k - shift|).
//
// Takes O(points) time. All terms are positive and only added, so every sum has a small relative
// error, even if the terms differ by many orders of magnitude.
template <class Real>
class LaplaceFilter {
 public:
  // `points` are the x_i and must outlive the filter.
  LaplaceFilter(std::span<const double> points, double lambda, std::pmr::memory_resource* memory)
      : points_(points),
        lambda_(lambda),
        steps_(points.size(), memory),
        tails_(points.size(), memory),
        spans_(points.size(), memory) {
    for (std::size_t i = 1; i < points.size(); ++i) steps_[i] = decay(points[i] - points[i - 1]);
  }

  // `in` holds the elements of in_range and `out` those of out_range; the two do not overlap. k
  // runs over in_range, i over out_range. Requires shift >= 0. Throws Cancelled.
  void apply(std::span<const Real> in, IndexRange in_range, double shift, std::span<Real> out,
             IndexRange out_range, CancelPoll& cancel) {
    Real below = 0;  // sum over the points at or below x_i - shift, relative to the last of them
    Above above{in_range.first};
    std::size_t split = in_range.first;  // the first point beyond x_i - shift, or `next`
    std::size_t next = in_range.first;   // the first point that is not a term yet
    cancel.tick(in_range.size() + out_range.size());
    for (std::size_t i = out_range.first; i < out_range.end; ++i) {
      const double edge = points_[i] - shift;
      for (; next < in_range.end && next < i; ++next) {
        append(in[next - in_range.first], next, above);
      }
      for (; split < next && points_[split] <= edge; ++split) {
        below = (split == in_range.first ? Real(0) : below * steps_[split]) +
                in[split - in_range.first];
        if (split == above.turn) turn_over(in, in_range.first, split + 1, next, above);
      }
      Real sum = 0;
      if (split > in_range.first) sum += below * decay(edge - points_[split - 1]);
      if (split < next) sum += sum_above(split, above) * decay(points_[split] - edge);
      out[i - out_range.first] = sum;
    }
  }

 private:
  // A queue of the points above the edge. tails_ and spans_ hold a sum for every point before
  // `turn`, so that points can leave at the front. One sum covers the points from `turn` on, so
  // that points can be appended.
  struct Above {
    std::size_t turn;
    Real appended = 0;  // relative to point turn
    Real reach = 1;     // decay from point turn to the last point
  };

  Real decay(double distance) const {
    using std::exp;
    return exp(Real(-lambda_ * distance));
  }

  void append(Real term, std::size_t point, Above& above) {
    above.reach = point == above.turn ? Real(1) : above.reach * steps_[point];
    above.appended += term * above.reach;
  }

  // Makes the points first .. end - 1 the whole queue, all of them before the turn. in[0] belongs
  // to point `offset`.
  void turn_over(std::span<const Real> in, std::size_t offset, std::size_t first, std::size_t end,
                 Above& above) {
    Real tail = 0;
    Real span = 1;
    for (std::size_t k = end; k-- > first;) {
      tail = in[k - offset] + (k + 1 == end ? Real(0) : tail * steps_[k + 1]);
      span *= steps_[k + 1];
      tails_[k] = tail;
      spans_[k] = span;
    }
    above = {end, Real(0), Real(1)};
  }

  // The sum over the points from `first` on, relative to point `first`.
  Real sum_above(std::size_t first, const Above& above) const {
    if (first == above.turn) return above.appended;
    return tails_[first] + spans_[first] * above.appended;
  }

  std::span<const double> points_;
  double lambda_;
  std::pmr::vector<Real> steps_;  // decay from the point before
  std::pmr::vector<Real> tails_;  // sum up to the turn, relative to the point
  std::pmr::vector<Real> spans_;  // decay to the turn
};

}  // namespace dpquantile
