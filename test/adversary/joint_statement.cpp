#include "adversary/joint_statement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace dpquantile::adversary {

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  if (larger == kNothing) return kNothing;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

double log_factorial(double n) {
  return std::lgamma(n + 1);
}

double length_of(const Segment& segment) {
  return static_cast<double>(segment.positions.end - segment.positions.begin);
}

}  // namespace

std::vector<Segment> segments_of(const HeavyCells& cells, PositionInterval interval,
                                 std::span<const Position> cuts) {
  std::vector<Segment> segments;
  double rank = 0;
  const auto add_part = [&](Position begin, Position end, double slope) {
    begin = std::max(begin, interval.begin);
    end = std::min(end, interval.end);
    if (begin >= end) return;
    segments.push_back({{begin, end}, rank, slope});
    rank += slope * static_cast<double>(end - begin);
  };
  const auto add = [&](Position begin, Position end, double slope) {
    for (const Position cut : cuts) {
      if (cut <= begin || cut >= end) continue;
      add_part(begin, cut, slope);
      begin = cut;
    }
    add_part(begin, end, slope);
  };
  Position behind = 0;
  for (const CellRun& run : cells) {
    add(behind, cell_start(run.cell), 0);
    behind = cell_start(std::uint64_t{run.cell} + 1);
    add(cell_start(run.cell), behind, std::ldexp(run.count, -int{kPositionBits}));
  }
  add(behind, interval.end, 0);
  return segments;
}

JointStatement::JointStatement(std::vector<Segment> segments, std::span<const double> quantiles,
                               double epsilon)
    : segments_(std::move(segments)),
      quantiles_(quantiles.begin(), quantiles.end()),
      records_(segments_.back().rank + segments_.back().slope * length_of(segments_.back())),
      positions_(
          static_cast<double>(segments_.back().positions.end - segments_.front().positions.begin)),
      lambda_(std::min(epsilon * (1 - 0x1p-10) / 2, 8.0)),
      counts_(segments_.size()),
      total_below_(kNothing),
      total_above_(kNothing) {
  const auto gaps = static_cast<double>(quantiles_.size() + 1);
  step_ = gaps * std::min(1.0, gaps / 10) / lambda_;
  add_patterns(0, quantiles_.size());
  for (const Pattern& pattern : patterns_) {
    total_below_ = log_sum(total_below_, pattern.below);
    total_above_ = log_sum(total_above_, pattern.above);
  }
}

std::size_t JointStatement::count_patterns(std::size_t segments, std::size_t quantiles,
                                           std::size_t enough) {
  double count = 1;
  for (std::size_t i = 1; i < segments; ++i) {
    count *= static_cast<double>(quantiles + i) / static_cast<double>(i);
    if (count > static_cast<double>(enough)) return enough;
  }
  return static_cast<std::size_t>(std::lround(count));
}

void JointStatement::add_patterns(std::size_t segment, std::size_t left) {
  if (segment + 1 == segments_.size()) {
    counts_[segment] = static_cast<std::uint8_t>(left);
    patterns_.push_back(bounded(counts_));
    return;
  }
  for (std::size_t here = 0; here <= left; ++here) {
    counts_[segment] = static_cast<std::uint8_t>(here);
    add_patterns(segment + 1, left - here);
  }
}

std::size_t JointStatement::pattern_of(std::span<const Position> positions) const {
  std::vector<std::uint8_t> counts(segments_.size());
  for (const Position position : positions) {
    const auto after = std::ranges::upper_bound(
        segments_, position, {}, [](const Segment& segment) { return segment.positions.begin; });
    ++counts[static_cast<std::size_t>(after - segments_.begin()) - 1];
  }
  const auto at = std::ranges::find(patterns_, counts, &Pattern::counts);
  return static_cast<std::size_t>(at - patterns_.begin());
}

std::size_t JointStatement::likeliest() const {
  const auto at = std::ranges::max_element(patterns_, {}, [](const Pattern& pattern) {
    return std::max(pattern.below, -1e300) + std::max(pattern.above, -1e300);
  });
  return static_cast<std::size_t>(at - patterns_.begin());
}

double JointStatement::least_probability(std::size_t pattern) const {
  return std::exp(patterns_[pattern].below - total_above_);
}

double JointStatement::most_probability(std::size_t pattern) const {
  return std::min(1.0, std::exp(patterns_[pattern].above - total_below_));
}

// With y_k = x_k - q_k s the sum over the gaps is the length of the way from 0 over the y_k to
// n - s. The shortest way through stretches moves only where it must.
double JointStatement::least_sum(std::span<const Stretch> stretches, double s,
                                 std::vector<double>* ranks) const {
  double sum = 0;
  Stretch free{0, 0};  // where the way can be without a longer sum
  std::vector<Stretch> frees;
  const auto go_to = [&](Stretch next) {
    if (next.low > free.high) {
      sum += next.low - free.high;
      free = {next.low, next.low};
    } else if (next.high < free.low) {
      sum += free.low - next.high;
      free = {next.high, next.high};
    } else {
      free = {std::max(free.low, next.low), std::min(free.high, next.high)};
    }
  };
  for (std::size_t k = 0; k < stretches.size(); ++k) {
    const double target = quantiles_[k] * s;
    go_to({stretches[k].low - target, stretches[k].high - target});
    if (ranks != nullptr) frees.push_back(free);
  }
  go_to({records_ - s, records_ - s});
  if (ranks != nullptr) {
    ranks->resize(stretches.size());
    double y = records_ - s;
    for (std::size_t k = stretches.size(); k-- > 0;) {
      y = std::clamp(y, frees[k].low, frees[k].high);
      (*ranks)[k] = y + quantiles_[k] * s;
    }
  }
  return sum;
}

double JointStatement::departure(std::span<const double> ranks, double s) const {
  double sum = 0;
  double rank = 0;
  double quantile = 0;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    sum += std::abs(ranks[k] - rank - (quantiles_[k] - quantile) * s);
    rank = ranks[k];
    quantile = quantiles_[k];
  }
  return sum + std::abs(records_ - rank - (1 - quantile) * s);
}

Pattern JointStatement::bounded(const std::vector<std::uint8_t>& counts) const {
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    for (int j = 0; j < counts[i]; ++j) {
      stretches.push_back({segments_[i].rank, segments_[i].last_rank()});
    }
  }
  // The least sum is convex in s, and for s = 0 it is n: no s beyond 2 n is better.
  double first = 0;
  double last = std::floor(2 * records_ / step_) + 1;
  while (last - first > 2) {
    const double middle = std::floor((first + last) / 2);
    if (least_sum(stretches, middle * step_, nullptr) <=
        least_sum(stretches, (middle + 1) * step_, nullptr)) {
      last = middle + 1;
    } else {
      first = middle;
    }
  }
  double best = first;
  for (double i = first + 1; i <= last; ++i) {
    if (least_sum(stretches, i * step_, nullptr) < least_sum(stretches, best * step_, nullptr)) {
      best = i;
    }
  }
  std::vector<double> ranks;
  const double cost = lambda_ * least_sum(stretches, best * step_, &ranks);
  Pattern pattern{counts, best * step_, cost, kNothing, far_weight(counts, cost, 1)};
  for (const double part : {0.0, 0.25, 0.5, 0.75}) {
    pattern.above = std::min(pattern.above, far_weight(counts, cost, part));
  }
  const double unit = 1 / (lambda_ * static_cast<double>(quantiles_.size()));
  for (const double reach : {0.0, 0.1, 0.25, 0.5, 1.0}) bound_near(pattern, ranks, reach * unit);
  return pattern;
}

// Bounds the weight from below by that of the positions within `reach` of the ones nearest to these
// ranks: U_k in stretches that ascend are so when they are sorted.
void JointStatement::bound_near(Pattern& pattern, std::vector<double> ranks, double reach) const {
  double log_weight = log_factorial(static_cast<double>(quantiles_.size()));
  double spread = 0;
  std::size_t k = 0;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    log_weight -= log_factorial(pattern.counts[i]);
    double before = 0;
    for (int j = 0; j < pattern.counts[i]; ++j, ++k) {
      double measure = length_of(segment);
      if (segment.slope > 0) {
        const double offset = std::clamp(std::round((ranks[k] - segment.rank) / segment.slope),
                                         before, length_of(segment) - 1);
        const double wide = std::floor(reach / segment.slope);
        const double low = std::max(offset - wide, 0.0);
        const double high = std::min(offset + wide, length_of(segment) - 1);
        before = offset;
        measure = high - low + 1;
        spread += 2 * wide * segment.slope;
        ranks[k] = segment.rank + offset * segment.slope;
      }
      log_weight += std::log(measure / positions_);
    }
  }
  const double cost = lambda_ * (departure(ranks, pattern.s) + spread);
  if (log_weight - cost <= pattern.below) return;
  pattern.below = log_weight - cost;
  pattern.near_cost = cost;
}

// A bound from above. F is at least the least F of the pattern, and at least d / max(q, 1 - q) for
// each quantile at distance d from its target, and so at least any mean of these.
double JointStatement::far_weight(const std::vector<std::uint8_t>& counts, double cost,
                                  double part) const {
  const auto b = static_cast<double>(quantiles_.size());
  double log_weight = log_factorial(b) - part * cost;
  std::size_t k = 0;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.slope == 0 || part == 1) log_weight -= log_factorial(counts[i]);
    for (int j = 0; j < counts[i]; ++j, ++k) {
      const double q = quantiles_[k];
      const double fall = lambda_ * (1 - part) / (b * std::max(q, 1 - q));
      const double distance =
          std::max({segment.rank - q * records_, q * records_ - segment.last_rank(), 0.0});
      double measure = length_of(segment);
      if (segment.slope > 0 && fall > 0) {
        measure = std::min(measure, 2 / (fall * segment.slope) + 2);
      }
      log_weight += std::log(measure / positions_) - fall * distance;
    }
  }
  return log_weight;
}

}  // namespace dpquantile::adversary
