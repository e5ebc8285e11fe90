#pragma once

#include <cstdint>

namespace dpquantile {

// The public fixed-point scale of the user-level mechanisms: 2^31 steps from lower to upper. Units
// are counted from lower: 0 is lower, kOne is upper. Sums of values are exact integers, and every
// released number is one of finitely many that the bounds alone fix. The user-level headers write
// U = upper - lower.
//
// Exact sizes: with fewer than 2^32 values a sum stays below 2^63, a sum of squares below 2^94, and
// (number of values) * (sum of squares) below 2^126.
struct FixedPoint {
  static constexpr unsigned kBits = 31;
  static constexpr std::uint32_t kOne = std::uint32_t{1} << kBits;
  // The largest variance of values within the bounds, in units of (upper - lower)^2 / kOne.
  static constexpr std::uint32_t kLargestVariance = kOne / 4;

  double lower;
  double upper;

  // Throws ParameterError for the bounds that ValueGrid::create refuses.
  static FixedPoint create(double lower, double upper);

  // The value in units, 0 .. kOne, rounded to the nearest. A value out of bounds counts as the
  // nearer bound, infinities too. A function of the value alone. x must not be NaN: the caller
  // drops rows without a value first.
  std::uint32_t units_of(double x) const;

  // The value of `units`, 0 .. kOne; finite and never outside the bounds.
  double value_of(std::uint32_t units) const;

  // The variance of `units` units of (upper - lower)^2 / kOne; finite if
  // check_variance_representable() accepts the bounds.
  double variance_of(std::uint32_t units) const;

  // Throws ParameterError unless (upper - lower)^2 is a normal number, as a variance needs.
  void check_variance_representable() const;
};

}  // namespace dpquantile
