#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/iqr/iqr_plan.hpp"
#include "core/iqr/log_grid.hpp"
#include "core/privacy/noise.hpp"

// A reference for the interquartile range by propose-test-release, independent of the mechanism. It
// has quartiles, bins, distances by trying every pair of moves, and the exact laws of the private
// count and of the answer by given stages.
namespace dpquantile::test {

using Real = long double;
using Records = std::vector<double>;

inline constexpr double kLargestRecord = std::numeric_limits<double>::max();

inline Records sorted(Records records) {
  std::sort(records.begin(), records.end());
  return records;
}

// Records given as ascending pairs (value, number of records).
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

// The number of records to add, remove or replace to turn one dataset into the other. Both ascend.
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

// The record of rank 1 .. n. For other ranks the most extreme value that may replace a record.
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

// The number of the bin on a grid, or nothing for the bin of 0. Logarithms give the number. The
// grid's values only decide on which side of a bin's end a double very close to it lies.
inline std::optional<std::int64_t> reference_bin(double iqr, const LogGrid& grid,
                                                 int discretisation) {
  if (iqr == 0) return std::nullopt;
  const std::int64_t shift = 128 * discretisation;
  const Real unit = grid.unit();
  const Real end = static_cast<Real>(grid.last()) / 1024;
  const Real h = std::clamp(std::log(static_cast<Real>(iqr)) / unit, -end, end);
  const auto bin = static_cast<std::int64_t>(std::floor(h + static_cast<Real>(shift) / 1024));
  const std::int64_t next = (bin + 1) * 1024 - shift;
  if (next <= grid.last() && iqr >= grid.value(next)) return bin + 1;
  if (bin * 1024 - shift > -grid.last() && iqr < grid.value(bin * 1024 - shift)) return bin - 1;
  return bin;
}

// A_0 by trying all a, b. distance_to_instability_test.cpp checks it against the enumeration of all
// replacements. O(n + A_0^2).
inline std::int64_t reference_distance(const Records& ascending, const LogGrid& grid,
                                       int discretisation) {
  const std::int64_t n = std::ssize(ascending);
  const std::int64_t low = rank_of_quarters(ascending, 1);
  const std::int64_t high = rank_of_quarters(ascending, 3);
  const auto bin_of = [&](double iqr) { return reference_bin(iqr, grid, discretisation); };
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

inline std::int64_t reference_stability(const Records& ascending, const LogGrid& grid) {
  std::int64_t farthest = 0;
  for (int discretisation = 0; discretisation < 8; ++discretisation) {
    farthest = std::max(farthest, reference_distance(ascending, grid, discretisation));
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

// What the parts of the mechanism spend. They are exactly the mechanism's rationals if epsilon has
// few binary digits.
inline Real count_epsilon(double epsilon) {
  return static_cast<Real>(epsilon) / 64;
}
inline Real part_epsilon(double epsilon) {
  return static_cast<Real>(epsilon) * 63 / 128;
}

inline Real exactly(Rational value) {
  return static_cast<Real>(value.numerator) / static_cast<Real>(value.denominator);
}

inline std::int64_t reference_margin(Real test, double delta) {
  const LaplaceLaw noise(test);
  std::int64_t margin = 0;
  while (noise.at_least(margin + 1) > static_cast<Real>(delta)) ++margin;
  return margin;
}

// The only stage for few records, on a given grid.
inline IqrStage reference_stage(const LogGrid& grid, double epsilon, double delta) {
  constexpr std::uint64_t kUnits = std::uint64_t{1} << 52;
  const Rational part{static_cast<std::uint64_t>(part_epsilon(epsilon) * kUnits), kUnits};
  return {grid, part, reference_margin(part_epsilon(epsilon), delta), part};
}

// The probability that the private count, at least 3, of n records is `count`.
inline Real count_probability(std::size_t n, std::int64_t count, double epsilon) {
  const LaplaceLaw noise(count_epsilon(epsilon));
  const std::int64_t z = count - static_cast<std::int64_t>(n);
  return count > 3 ? noise.between(z, z + 1) : 1 - noise.at_least(z + 1);
}

// The outcomes by which the tests compare laws and samples: no answer, the answer 0, all steps
// below `first`, `count` ranges of `width` steps from `first` on, and all steps above them.
struct IqrOutcomes {
  LogGrid grid;
  std::int64_t first;
  std::int64_t width;
  std::int64_t count;

  std::size_t size() const { return static_cast<std::size_t>(count) + 4; }

  std::size_t index(const std::optional<double>& answer) const {
    if (!answer) return 0;
    if (*answer == 0) return 1;
    const std::int64_t offset = grid.step_of(*answer) - first;
    if (offset < 0) return 2;
    return static_cast<std::size_t>(std::min(offset / width, count)) + 3;
  }

  // The exact probabilities of the outcomes for ascending records, with only one stage on this
  // grid.
  std::vector<Real> law(const Records& ascending, const IqrStage& stage) const {
    const std::int64_t missing = 2 + stage.margin - reference_stability(ascending, grid);
    const LaplaceLaw test_noise(exactly(stage.test));
    std::vector<Real> law(size());
    const Real answered = test_noise.at_least(missing);
    law[0] = test_noise.at_least(1 - missing);
    const double iqr = reference_iqr(ascending);
    if (iqr == 0) {
      law[1] = answered;
      return law;
    }
    const std::int64_t step = grid.step_of(iqr);
    const LaplaceLaw noise(exactly(stage.release) / 1024);
    for (std::size_t i = 2; i < law.size(); ++i) {
      const auto [begin, end] = steps(i);
      if (begin < end) law[i] = answered * noise.between(begin - step, end - step);
    }
    return law;
  }

  // The same with the only stage for few records.
  std::vector<Real> law(const Records& ascending, double epsilon, double delta) const {
    return law(ascending, reference_stage(grid, epsilon, delta));
  }

 private:
  // The noisy steps, begin <= step < end, that give the i-th outcome. Steps beyond an end of the
  // grid give the outcome of this end.
  std::pair<std::int64_t, std::int64_t> steps(std::size_t i) const {
    constexpr std::int64_t kFar = std::int64_t{1} << 50;
    const std::int64_t range = static_cast<std::int64_t>(i) - 3;
    std::int64_t begin = range < 0 ? -kFar : first + range * width;
    std::int64_t end = range == count ? kFar : first + (range + 1) * width;
    const std::int64_t last = grid.last();
    if (begin > last || end <= -last) return {0, 0};
    if (begin <= -last) begin = -kFar;
    if (end > last) end = kFar;
    return {begin, end};
  }
};

// The outcomes of several stages: no answer, the answer 0, an answer on none of the grids (which
// never happens), and the ranges of each grid. The value 1 is on every grid and counts as a value
// of the first one, so the compared answers must lie far from it. With the units in use no other
// value is on two grids.
class StagedIqrOutcomes {
 public:
  explicit StagedIqrOutcomes(std::vector<IqrOutcomes> by_stage) : by_stage_(std::move(by_stage)) {}

  std::size_t size() const {
    std::size_t size = 3;
    for (const IqrOutcomes& outcomes : by_stage_) size += outcomes.size() - 2;
    return size;
  }

  std::size_t index(const std::optional<double>& answer) const {
    if (!answer) return 0;
    if (*answer == 0) return 1;
    std::size_t before = 3;
    for (const IqrOutcomes& outcomes : by_stage_) {
      const LogGrid& grid = outcomes.grid;
      if (grid.value(grid.step_of(*answer)) == *answer) return before + outcomes.index(answer) - 2;
      before += outcomes.size() - 2;
    }
    return 2;
  }

  // The stage, from 0 on, of an outcome from 3 on.
  std::size_t stage_of(std::size_t index) const {
    std::size_t stage = 0;
    for (std::size_t end = 3 + by_stage_[0].size() - 2; index >= end; ++stage) {
      end += by_stage_[stage + 1].size() - 2;
    }
    return stage;
  }

  // The exact probabilities of the outcomes. The stages are on the grids of the outcomes.
  std::vector<Real> law(const Records& ascending, std::span<const IqrStage> stages) const {
    std::vector<Real> law(3);
    Real reached = 1;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const std::vector<Real> given = by_stage_[i].law(ascending, stages[i]);
      law[1] += reached * given[1];
      for (std::size_t j = 2; j < given.size(); ++j) law.push_back(reached * given[j]);
      reached *= given[0];
    }
    law[0] = reached;
    return law;
  }

 private:
  std::vector<IqrOutcomes> by_stage_;
};

// The range that the private count of n records leaves with a probability below e^-40.
inline std::pair<std::int64_t, std::int64_t> likely_counts(std::size_t n, double epsilon) {
  const auto records = static_cast<std::int64_t>(n);
  const std::int64_t far = std::llround(40 / count_epsilon(epsilon));
  return {std::max<std::int64_t>(3, records - far), records + far};
}

// The outcomes of the whole mechanism, whose answers may lie on any grid: no answer, the answer 0,
// and ranges of values between values of one grid.
class WholeIqrOutcomes {
 public:
  explicit WholeIqrOutcomes(const IqrOutcomes& ranges) : ranges_(ranges) {}

  std::size_t size() const { return ranges_.size(); }
  std::size_t index(const std::optional<double>& answer) const { return ranges_.index(answer); }

  // Uses the stages of IqrPlan. iqr_plan_test.cpp tests their budgets and margins.
  std::vector<Real> law(const Records& ascending, double epsilon, double delta) const {
    const auto [first, last] = likely_counts(ascending.size(), epsilon);
    std::vector<Real> law(size());
    for (std::int64_t count = first; count <= last; ++count) {
      Real reached = count_probability(ascending.size(), count, epsilon);
      const IqrPlan plan(static_cast<std::uint64_t>(count), epsilon, delta);
      for (const IqrStage& stage : plan.stages()) {
        const std::vector<Real> given = IqrOutcomes{stage.grid, 0, 1, 0}.law(ascending, stage);
        law[1] += reached * given[1];
        if (reference_iqr(ascending) > 0) {
          add_ranges(reached * (given[2] + given[3]), stage, reference_iqr(ascending), law);
        }
        reached *= given[0];
      }
      law[0] += reached;
    }
    return law;
  }

 private:
  void add_ranges(Real probability, const IqrStage& stage, double iqr,
                  std::vector<Real>& law) const {
    constexpr std::int64_t kFar = std::int64_t{1} << 50;
    const LaplaceLaw noise(exactly(stage.release) / 1024);
    const LogGrid& thresholds = ranges_.grid;
    const std::int64_t step = stage.grid.step_of(iqr);
    std::int64_t begin = -kFar;
    for (std::int64_t i = 0; i <= ranges_.count + 1; ++i) {
      const double next = thresholds.value(ranges_.first + i * ranges_.width);
      const std::int64_t end =
          i > ranges_.count ? kFar : stage.grid.step_of(std::nextafter(next, 0)) + 1;
      law[static_cast<std::size_t>(i) + 2] += probability * noise.between(begin - step, end - step);
      begin = end;
    }
  }

  IqrOutcomes ranges_;
};

}  // namespace dpquantile::test
