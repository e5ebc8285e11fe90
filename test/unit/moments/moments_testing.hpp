#pragma once

#include <cstddef>
#include <vector>

#include "core/moments/value_sums.hpp"

// Rows and their exact statistics.
namespace dpquantile::test {

using Rows = std::vector<double>;

inline ValueSums sums_of(const Rows& rows, const FixedPoint& bounds) {
  ValueSums sums;
  for (const double row : rows) sums.add(value_units(bounds, row));
  return sums;
}

struct Exact {
  double count = 0;
  double sum = 0;
  double mean = 0;
  double variance = 0;
  double sample_variance = 0;
};

inline Exact exact_of(const Rows& rows) {
  Exact exact;
  exact.count = static_cast<double>(rows.size());
  for (const double row : rows) exact.sum += row;
  exact.mean = exact.sum / exact.count;
  for (const double row : rows) exact.variance += (row - exact.mean) * (row - exact.mean);
  exact.sample_variance = exact.variance / (exact.count - 1);
  exact.variance /= exact.count;
  return exact;
}

inline Rows repeated(std::size_t n, const Rows& pattern) {
  Rows rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = pattern[i % pattern.size()];
  return rows;
}

}  // namespace dpquantile::test
