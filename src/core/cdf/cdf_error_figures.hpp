#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace dpquantile {

// How far a release may be off at one fraction q and one point k, both chosen before it: with n^
// the released number of rows and F_k and n the true counts, |F^_k - q n^ - (F_k - q n)|, in rows.
class FractionErrors {
 public:
  static constexpr std::size_t kSteps = 16;
  // The squares of the errors of the estimates for q = i / kSteps.
  using Squares = std::array<double, kSteps + 1>;

  FractionErrors() = default;
  explicit FractionErrors(const Squares& squares) : squares_(squares) {}

  // The square is convex in q, so a straight line between two steps bounds it. Rounding the two
  // counts to whole rows adds up to one row. Requires 0 <= q <= 1.
  double at(double q) const {
    const double position = q * kSteps;
    const auto step = std::min(static_cast<std::size_t>(position), kSteps - 1);
    const double part = position - static_cast<double>(step);
    return std::sqrt((1 - part) * squares_[step] + part * squares_[step + 1]) + 1;
  }

 private:
  Squares squares_{};
};

// How far a release may be off, in rows. `*_fraction_rows` divided by the released number of rows,
// n^, bounds the error of a fraction: with F_k and n the true counts, |F^_k - F_k / n * n^| is at
// most `*_fraction_rows`.
struct CdfError {
  double point;  // of one prefix count, for a bin chosen at random; holds for data that are flat
                 // at the total, too
  double point_fraction_rows;       // the same for fractions
  double everywhere;                // of all prefix counts at once
  double everywhere_fraction_rows;  // the same for fractions
};

}  // namespace dpquantile
