#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/log_grid.hpp"

// Reference for the interquartile range by propose-test-release, independent of the mechanism:
// quartiles, bins, distances by trying every pair of moves, and the exact laws of the private count
// and of the answer on a given grid.
namespace dpquantile::test {

using Real = long double;
using Records = std::vector<double>;

inline constexpr double kLargestRecord = std::numeric_limits<double>::max();

inline Records sorted(Records records) {
  std::sort(records.begin(), records.end());
  return records;
}

// Records given as (value, how often), ascending.
inline Records runs(const std::vector<std::pair<double, int>>& values) {
  Records records;
  for (const auto& [value, count] : values) {
    records.insert(records.end(), static_cast<std::size_t>(count), value);
  }
  return records;
}

inline Records with(Records ascending, double added) {
  ascending.insert(std::upper_bound(ascending.begin(), ascending.end(), added), added);
  return ascending;
}

inline void append_multisets(const Records& values, std::size_t from, std::size_t n,
                             Records& prefix, std::vector<Records>& all) {
  if (prefix.size() == n) {
    all.push_back(prefix);
    return;
  }
  for (std::size_t i = from; i < values.size(); ++i) {
    prefix.push_back(values[i]);
    append_multisets(values, i, n, prefix, all);
    prefix.pop_back();
  }
}

// All multisets of n of the ascending values, each ascending.
inline std::vector<Records> multisets(const Records& values, std::size_t n) {
  std::vector<Records> all;
  Records prefix;
  append_multisets(values, 0, n, prefix, all);
  return all;
}

// How many records must be added, removed or replaced to get one from the other, both ascending.
inline std::int64_t records_apart(const Records& one, const Records& other) {
  std::int64_t common = 0;
  for (std::size_t i = 0, j = 0; i < one.size() && j < other.size();) {
    if (one[i] == other[j]) {
      ++common;
      ++i;
      ++j;
    } else {
      (one[i] < other[j] ? i : j) += 1;
    }
  }
  return std::max(std::ssize(one), std::ssize(other)) - common;
}

// The record of rank 1 .. n, and what a record may be replaced with for ranks beyond.
inline double record_at(const Records& ascending, std::int64_t rank) {
  if (rank < 1) return -kLargestRecord;
  if (rank > std::ssize(ascending)) return kLargestRecord;
  return ascending[static_cast<std::size_t>(rank - 1)];
}

inline double spread_of(const Records& ascending, std::int64_t low, std::int64_t high) {
  if (low >= high) return 0;
  return std::min(record_at(ascending, high) - record_at(ascending, low), kLargestRecord);
}

inline std::int64_t rank_of_quarters(const Records& records, int quarters) {
  const auto n = static_cast<double>(records.size());
  return static_cast<std::int64_t>(std::ceil(quarters * n / 4));
}

inline double reference_iqr(const Records& ascending) {
  return spread_of(ascending, rank_of_quarters(ascending, 1), rank_of_quarters(ascending, 3));
}

// The number of the bin of the scale for a count, or nothing for the bin of 0. By logarithms; the
// grid's values only decide on which side of an end of a bin a double lies that is very close to
// it.
inline std::optional<std::int64_t> reference_bin(double iqr, std::uint64_t count,
                                                 int discretisation) {
  if (iqr == 0) return std::nullopt;
  const LogGrid grid(count);
  const std::int64_t shift = 128 * discretisation;
  const Real unit = std::log1p(1 / std::log(static_cast<Real>(count)));
  const Real end = static_cast<Real>(grid.last()) / 1024;
  const Real h = std::clamp(std::log(static_cast<Real>(iqr)) / unit, -end, end);
  const auto bin = static_cast<std::int64_t>(std::floor(h + static_cast<Real>(shift) / 1024));
  const std::int64_t next = (bin + 1) * 1024 - shift;
  if (next <= grid.last() && iqr >= grid.value(next)) return bin + 1;
  if (bin * 1024 - shift > -grid.last() && iqr < grid.value(bin * 1024 - shift)) return bin - 1;
  return bin;
}

// A_0 by trying all a, b; checked against the enumeration of all replacements in
// replacement_distance_test.cpp. O(n^2).
inline std::int64_t reference_distance(const Records& ascending, std::uint64_t count,
                                       int discretisation) {
  const std::int64_t n = std::ssize(ascending);
  const std::int64_t low = rank_of_quarters(ascending, 1);
  const std::int64_t high = rank_of_quarters(ascending, 3);
  const auto bin_of = [&](double iqr) { return reference_bin(iqr, count, discretisation); };
  const auto home = bin_of(reference_iqr(ascending));
  std::int64_t least = n + 2;
  for (std::int64_t a = 0; a <= n + 1; ++a) {
    for (std::int64_t b = 0; a + b < least; ++b) {
      const bool wider = bin_of(spread_of(ascending, low - a, high + b)) != home;
      const bool narrower = bin_of(spread_of(ascending, low + a, high - b)) != home;
      if (wider || narrower) least = a + b;
    }
  }
  return least;
}

inline std::int64_t reference_stability(const Records& ascending, std::uint64_t count) {
  std::int64_t farthest = 0;
  for (int discretisation = 0; discretisation < 8; ++discretisation) {
    farthest = std::max(farthest, reference_distance(ascending, count, discretisation));
  }
  return farthest;
}

// Discrete Laplace noise of scale 1/rate.
class LaplaceLaw {
 public:
  explicit LaplaceLaw(Real rate) : rate_(rate) {}

  // P[Z >= z].
  Real at_least(std::int64_t z) const {
    if (z <= 0) return 1 - at_least(1 - z);
    return std::exp(-rate_ * static_cast<Real>(z)) / (1 + std::exp(-rate_));
  }
  // P[from <= Z < to], without cancellation in the tails.
  Real between(std::int64_t from, std::int64_t to) const {
    if (from < 0 && to <= 1) return between(1 - to, 1 - from);
    if (from < 0) return between(from, 0) + between(0, to);
    return at_least(from) * -std::expm1(-rate_ * static_cast<Real>(to - from));
  }

 private:
  Real rate_;
};

// What the parts of the mechanism spend; for an epsilon of few binary digits, so that these are the
// rationals that are used.
inline Real count_epsilon(double epsilon) {
  return static_cast<Real>(epsilon) / 64;
}
inline Real part_epsilon(double epsilon) {
  return static_cast<Real>(epsilon) * 63 / 128;
}

inline std::int64_t reference_margin(double epsilon, double delta) {
  const LaplaceLaw noise(part_epsilon(epsilon));
  std::int64_t margin = 0;
  while (noise.at_least(margin + 1) > static_cast<Real>(delta)) ++margin;
  return margin;
}

// The private count, at least 3, of n records.
inline Real count_probability(std::size_t n, std::int64_t count, double epsilon) {
  const LaplaceLaw noise(count_epsilon(epsilon));
  const std::int64_t z = count - static_cast<std::int64_t>(n);
  return count > 3 ? noise.between(z, z + 1) : 1 - noise.at_least(z + 1);
}

// Outcomes by which laws and samples are compared: no answer, the answer 0, and ranges of the steps
// that are answered: `count` of them of `width` steps from `first` on, and what lies beyond.
struct IqrOutcomes {
  std::uint64_t grid;  // the count that fixes it
  std::int64_t first;
  std::int64_t width;
  std::int64_t count;

  std::size_t size() const { return static_cast<std::size_t>(count) + 4; }

  std::size_t index(const std::optional<double>& answer) const {
    if (!answer) return 0;
    if (*answer == 0) return 1;
    const std::int64_t offset = LogGrid(grid).step_of(*answer) - first;
    if (offset < 0) return 2;
    return static_cast<std::size_t>(std::min(offset / width, count)) + 3;
  }

  // The exact probabilities of the outcomes for ascending records.
  std::vector<Real> law(const Records& ascending, double epsilon, double delta) const {
    const Real e = part_epsilon(epsilon);
    const std::int64_t missing =
        2 + reference_margin(epsilon, delta) - reference_stability(ascending, grid);
    std::vector<Real> law(size());
    const Real answered = LaplaceLaw(e).at_least(missing);
    law[0] = LaplaceLaw(e).at_least(1 - missing);
    const double iqr = reference_iqr(ascending);
    if (iqr == 0) {
      law[1] = answered;
      return law;
    }
    const std::int64_t step = LogGrid(grid).step_of(iqr);
    const LaplaceLaw noise(e / 1024);
    for (std::size_t i = 2; i < law.size(); ++i) {
      const auto [begin, end] = steps(i);
      if (begin < end) law[i] = answered * noise.between(begin - step, end - step);
    }
    return law;
  }

 private:
  // The noisy steps, begin <= step < end, that are answered as the i-th outcome. Those beyond an
  // end of the grid are answered as this end.
  std::pair<std::int64_t, std::int64_t> steps(std::size_t i) const {
    constexpr std::int64_t kFar = std::int64_t{1} << 40;
    const std::int64_t range = static_cast<std::int64_t>(i) - 3;
    std::int64_t begin = range < 0 ? -kFar : first + range * width;
    std::int64_t end = range == count ? kFar : first + (range + 1) * width;
    const std::int64_t last = LogGrid(grid).last();
    if (begin > last || end <= -last) return {0, 0};
    if (begin <= -last) begin = -kFar;
    if (end > last) end = kFar;
    return {begin, end};
  }
};

// The same ranges for the whole mechanism, whose answers may lie on any grid.
class WholeIqrOutcomes {
 public:
  explicit WholeIqrOutcomes(const IqrOutcomes& ranges) : ranges_(ranges) {}

  std::size_t size() const { return ranges_.size(); }
  std::size_t index(const std::optional<double>& answer) const { return ranges_.index(answer); }

  // Up to e^-40, the probability of a larger count.
  std::vector<Real> law(const Records& ascending, double epsilon, double delta) const {
    const std::int64_t last = std::ssize(ascending) + std::llround(40 / count_epsilon(epsilon));
    std::vector<Real> law(size());
    for (std::int64_t count = 3; count <= last; ++count) {
      const Real probability = count_probability(ascending.size(), count, epsilon);
      const auto grid = static_cast<std::uint64_t>(count);
      const IqrOutcomes answered{grid, 0, 1, 0};
      const std::vector<Real> given = answered.law(ascending, epsilon, delta);
      law[0] += probability * given[0];
      law[1] += probability * given[1];
      if (reference_iqr(ascending) > 0) {
        add_ranges(probability * (given[2] + given[3]), LogGrid(grid), reference_iqr(ascending),
                   epsilon, law);
      }
    }
    return law;
  }

 private:
  void add_ranges(Real probability, const LogGrid& grid, double iqr, double epsilon,
                  std::vector<Real>& law) const {
    constexpr std::int64_t kFar = std::int64_t{1} << 40;
    const LaplaceLaw noise(part_epsilon(epsilon) / 1024);
    const LogGrid thresholds(ranges_.grid);
    const std::int64_t step = grid.step_of(iqr);
    std::int64_t begin = -kFar;
    for (std::int64_t i = 0; i <= ranges_.count + 1; ++i) {
      const double next = thresholds.value(ranges_.first + i * ranges_.width);
      const std::int64_t end = i > ranges_.count ? kFar : grid.step_of(std::nextafter(next, 0)) + 1;
      law[static_cast<std::size_t>(i) + 2] += probability * noise.between(begin - step, end - step);
      begin = end;
    }
  }

  IqrOutcomes ranges_;
};

}  // namespace dpquantile::test
