#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>

// Figures and verdicts of the benchmarks.
namespace dpquantile::bench {

// The mean of figures and its standard error.
class Average {
 public:
  void add(double figure) {
    ++count_;
    sum_ += figure;
    squares_ += figure * figure;
  }
  double mean() const { return sum_ / count_; }
  double standard_error() const {
    return std::sqrt(std::max(squares_ / count_ - mean() * mean(), 0.0) / (count_ - 1));
  }

 private:
  double count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

// The tolerance of all verdicts, in standard errors.
inline constexpr double kTolerance = 3;

// Whether a is at most b within the tolerance.
inline bool not_above(const Average& a, const Average& b) {
  return a.mean() - b.mean() <= kTolerance * std::hypot(a.standard_error(), b.standard_error());
}

// Counts in how many cases a claim holds.
class Claim {
 public:
  void check(bool holds) {
    ++cases_;
    holds_ += holds;
  }
  void print(const char* text) const {
    std::printf("%-88s %s (%d of %d)\n", text, holds_ == cases_ ? "yes" : "NO", holds_, cases_);
  }

 private:
  int cases_ = 0;
  int holds_ = 0;
};

}  // namespace dpquantile::bench
