#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adversary/heavy_cells.hpp"
#include "core/exponential/exponential_mechanism.hpp"

namespace dpquantile::adversary {

// Consecutive positions of an interval over which the rank grows evenly: in a cell, or between
// cells. Ranks are in records, from the beginning of the interval.
struct Segment {
  PositionInterval positions;
  double rank;   // of the first position
  double slope;  // records at a position

  double last_rank() const {
    return rank + slope * static_cast<double>(positions.end - positions.begin - 1);
  }
};

// They are also cut at `cuts`, which ascend, so that patterns tell more.
std::vector<Segment> segments_of(const HeavyCells& cells, PositionInterval interval,
                                 std::span<const Position> cuts = {});

// In which segments the quantiles lie: how many of them in each segment. The bounds on its weight
// are logarithms.
struct Pattern {
  std::vector<std::uint8_t> counts;
  double s;          // where the least F of its positions is
  double near_cost;  // the largest lambda F, for this s, of the positions that `below` is for
  double below;
  double above;
};

// The law of a joint draw, as docs/privacy.md states it ("Several quantiles at once"), by a plain
// and slow program that shares nothing with the one that draws. It knows no slots, windows, limits
// or filters: for each pattern it finds the positions with the least F, and bounds the weight of
// the pattern from both sides. Any number of quantiles, and any number of records.
class JointStatement {
 public:
  JointStatement(std::vector<Segment> segments, std::span<const double> quantiles, double epsilon);

  // How many patterns there are, at most `enough`.
  static std::size_t count_patterns(std::size_t segments, std::size_t quantiles,
                                    std::size_t enough);

  std::span<const Segment> segments() const { return segments_; }
  std::span<const Pattern> patterns() const { return patterns_; }
  double lambda() const { return lambda_; }
  // In the interval.
  double records() const { return records_; }

  // The pattern of these positions.
  std::size_t pattern_of(std::span<const Position> positions) const;
  // The pattern that is the most probable as far as the bounds tell.
  std::size_t likeliest() const;

  // Bounds on the probability of a pattern.
  double least_probability(std::size_t pattern) const;
  double most_probability(std::size_t pattern) const;

 private:
  struct Stretch {
    double low;
    double high;
  };

  void add_patterns(std::size_t segment, std::size_t left);
  Pattern bounded(const std::vector<std::uint8_t>& counts) const;
  // The least sum over the gaps for ranks in these stretches, for one s. Fills in the ranks.
  double least_sum(std::span<const Stretch> stretches, double s, std::vector<double>* ranks) const;
  double departure(std::span<const double> ranks, double s) const;
  void bound_near(Pattern& pattern, std::vector<double> ranks, double reach) const;
  double far_weight(const std::vector<std::uint8_t>& counts, double cost, double part) const;

  std::vector<Segment> segments_;
  std::vector<double> quantiles_;
  double records_;
  double positions_;
  double lambda_;
  double step_;
  std::vector<std::uint8_t> counts_;
  std::vector<Pattern> patterns_;
  double total_below_;
  double total_above_;
};

}  // namespace dpquantile::adversary
