#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dpquantile {

// mantissa * 2^exponent, which may be beyond the range of doubles: 0.5 <= |mantissa| < 1, or both
// are 0.
struct ScaledDouble {
  double mantissa;
  int exponent;

  // The nearest double, an infinity beyond the largest one. Never -0.
  double value() const;
  // The same of the square root of a number that is not negative.
  double square_root() const;
  ScaledDouble divided_by(double divisor) const;
};

namespace detail {

// A two's complement integer. Plain data; only in use on the machine that has made it.
template <std::size_t kLimbs>
using WideInteger = std::array<std::uint32_t, kLimbs>;

}  // namespace detail

// The exact sum of up to 2^63 finite doubles, in 272 bytes. It does not depend on their order.
class ExactSum {
 public:
  void add(double x);
  // Rounded once to so many bits, at most 53: half to even.
  ScaledDouble rounded(int bits) const;

 private:
  friend class ExactSums;
  friend class NarrowSum;

  // In units of 2^-1074
  static constexpr std::size_t kLimbs = 68;
  detail::WideInteger<kLimbs> units_{};
};

// Count, sum, and sum of squares, of up to 2^63 finite doubles, exact in 816 bytes.
class ExactSums {
 public:
  void add(double x);
  std::uint64_t count() const { return count_; }
  const ExactSum& sum() const { return sum_; }
  // The sum of the squared deviations from the mean, times the count: computed exactly, and rounded
  // once.
  ScaledDouble deviations_times_count() const;

 private:
  friend class NarrowSums;

  // In units of 2^-2148
  static constexpr std::size_t kLimbs = 2 * ExactSum::kLimbs;

  std::uint64_t count_ = 0;
  ExactSum sum_;
  detail::WideInteger<kLimbs> squares_{};
};

// What ExactSum answers, bit by bit, in 24 bytes, for up to 2^16 finite doubles whose binary digits
// are within 111 places: one is 2^58 times another at most, 0 aside.
class NarrowSum {
 public:
  // Whether there is room for x beside the values before. Without, nothing is added.
  bool try_add(double x);
  ScaledDouble rounded(int bits) const;
  // To which all values can be added.
  ExactSum widened() const;

 private:
  friend class NarrowSums;

  static constexpr std::size_t kLimbs = 4;

  std::uint32_t count_ = 0;
  // The places of the digits of all values, from 2^-1074 on: the sum is in units of the first.
  std::int16_t first_ = INT16_MAX;
  std::int16_t end_ = 0;
  detail::WideInteger<kLimbs> units_{};
};

// The same beside ExactSums, in 56 bytes.
class NarrowSums {
 public:
  bool try_add(double x);
  ScaledDouble deviations_times_count() const;
  ExactSums widened() const;

 private:
  NarrowSum sum_;
  detail::WideInteger<2 * NarrowSum::kLimbs> squares_{};
};

}  // namespace dpquantile
