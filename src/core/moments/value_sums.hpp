#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/int128.hpp"
#include "core/contributions/fixed_point.hpp"

// What the state of count, sum, mean and variance holds: exact sums, in constant memory. They do
// not depend on the order of the rows, or on how the rows are divided among partial states.
namespace dpquantile {

// Half away from zero, as std::llround rounds, for 0 <= x < 2^53; the difference is exact.
inline std::uint64_t round_to_nearest(double x) {
  const auto whole = static_cast<std::uint64_t>(x);
  return whole + (x - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}

// FixedPoint::units_of for every row: the same result for all values, without a call. x must not be
// NaN.
inline std::uint32_t value_units(const FixedPoint& scale, double x) {
  const double inside = std::clamp(x, scale.lower, scale.upper);
  const double fraction = (inside - scale.lower) / (scale.upper - scale.lower);
  return static_cast<std::uint32_t>(round_to_nearest(fraction * FixedPoint::kOne));
}

// The scale of a sum alone: units of max(|lower|, |upper|) / kSumOne, counted from zero. A row of
// any value changes the sum of the units by at most kSumOne.
struct SumScale {
  static constexpr unsigned kSumBits = 32;
  static constexpr std::uint64_t kSumOne = std::uint64_t{1} << kSumBits;

  double lower;
  double upper;
  double largest;  // max(|lower|, |upper|)

  // Throws ParameterError for the bounds that ValueGrid::create refuses.
  static SumScale create(double lower, double upper) {
    const FixedPoint checked = FixedPoint::create(lower, upper);
    return {checked.lower, checked.upper, std::max(std::abs(lower), std::abs(upper))};
  }

  // The value in units plus kSumOne, 0 .. 2 kSumOne, rounded to the nearest: never negative, so
  // that a state adds the units of every scale in the same way. A value out of bounds counts as the
  // nearer bound. A function of the value alone. x must not be NaN.
  std::uint64_t shifted_units(double x) const {
    const double units = std::clamp(x, lower, upper) / largest * static_cast<double>(kSumOne);
    const std::uint64_t magnitude = round_to_nearest(std::abs(units));
    return units < 0 ? kSumOne - magnitude : kSumOne + magnitude;
  }
};

// A sum of numbers below 2^64, of up to 2^64 of them. Plain data on every processor.
struct WideSum {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  void add(std::uint64_t number) {
    low += number;
    high += low < number ? 1 : 0;
  }
  void add(const WideSum& other) {
    add(other.low);
    high += other.high;
  }
  uint128_t value() const { return (uint128_t{high} << 64) + low; }
  bool operator==(const WideSum&) const = default;
};

// The sums over rows. No number of rows up to 2^63 overflows them. Not private: only for use as the
// input of a mechanism.
struct ValueSums {
  std::uint64_t count = 0;
  WideSum sum;      // of the units
  WideSum squares;  // of their squares; stays 0 if only shifted units are added

  // A row of value_units(), 0 .. FixedPoint::kOne.
  void add(std::uint32_t units) {
    add_shifted(units);
    squares.add(std::uint64_t{units} * units);
  }
  // A row of SumScale::shifted_units().
  void add_shifted(std::uint64_t units) {
    ++count;
    sum.add(units);
  }
  void add(const ValueSums& other) {
    count += other.count;
    sum.add(other.sum);
    squares.add(other.squares);
  }
  bool operator==(const ValueSums&) const = default;
};

}  // namespace dpquantile
