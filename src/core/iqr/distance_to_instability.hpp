#pragma once

#include <cstddef>
#include <span>

#include "core/base/cancel.hpp"
#include "core/iqr/log_grid.hpp"

namespace dpquantile {

// A view of the order statistics of n records in ascending order, each within +-DBL_MAX.
class OrderStatistics {
 public:
  explicit OrderStatistics(std::span<const double> ascending) : records_(ascending) {}

  std::size_t records() const { return records_.size(); }

  // The ranks of the quartiles, ceil(n/4) and ceil(3n/4). For two or more records
  // 1 <= lower < upper <= n; both are 1 for one record and 0 for none.
  std::size_t lower_quartile() const { return (records_.size() + 3) / 4; }
  std::size_t upper_quartile() const { return records_.size() - records_.size() / 4; }

  // The record of rank 1 .. n. Rank 0 is -DBL_MAX and rank n + 1 is DBL_MAX: the ends of what a
  // record can be replaced with, also when there are no records.
  double at(std::size_t rank) const;

  // at(high) - at(low), rounded to a double and at most DBL_MAX; 0 unless low < high. For
  // low < high it is 0 exactly if the two are equal, grows with at(high) and falls with at(low).
  double spread(std::size_t low, std::size_t high) const;

  // 0 for fewer than two records.
  double interquartile_range() const { return spread(lower_quartile(), upper_quartile()); }

 private:
  std::span<const double> records_;
};

// A_0 of Dwork and Lei 2009: the least number of steps by which the ranks of the quartiles must
// move, apart or together, until the spread between them lies outside `bin`. `bin` must contain the
// interquartile range of the records. At least 1. For two or more records it is the least number of
// records that must be replaced, each by any value within +-DBL_MAX, to take the interquartile
// range out of `bin`. O(n) time, and less for a smaller distance; no memory.
//
// Adding, removing or replacing one record changes it by at most 1 if `bin` is the bin of the
// records before and after; if it is not, the distance is 1 for both (docs/privacy.md, Lemma 9).
// Not private by itself.
//
// Throws Cancelled.
std::size_t distance_to_instability(const IqrBin& bin, const OrderStatistics& records,
                                    CancelPoll& cancel);

}  // namespace dpquantile
