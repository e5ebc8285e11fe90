#pragma once

#include "core/base/int128.hpp"

namespace dpquantile {

// A quotient of whole numbers that are at least 0; the denominator is at least 1.
struct Fraction {
  uint128_t numerator;
  uint128_t denominator;
};

// A real number x >= 0 that is known to lie between two multiples of 2^-bits:
// low <= x * 2^bits <= high.
template <class Integer>
struct Enclosure {
  Integer low;
  Integer high;
};

// Arithmetic with rigorous bounds: each result encloses the exact result of all numbers that the
// operands enclose. Every operation rounds outwards, by 2^-bits or less a bound. Integer must hold
// products of two bounds: a fixed width that does not wrap, or any width.
template <class Integer>
class EnclosureArithmetic {
 public:
  using Real = Enclosure<Integer>;

  explicit EnclosureArithmetic(unsigned bits) : bits_(bits), unit_(Integer(1) << bits) {}

  Real one() const { return {unit_, unit_}; }
  Real half() const { return {unit_ / 2, unit_ / 2}; }
  Real sum(const Real& a, const Real& b) const { return {a.low + b.low, a.high + b.high}; }
  // a - b for a >= b.
  Real difference(const Real& a, const Real& b) const {
    return {a.low > b.high ? Integer(a.low - b.high) : Integer(0), a.high - b.low};
  }
  Real product(const Real& a, const Real& b) const {
    return {(a.low * b.low) >> bits_, ((a.high * b.high) >> bits_) + 1};
  }
  // a / b. Requires b.low > 0.
  Real ratio(const Real& a, const Real& b) const {
    return {(a.low << bits_) / b.high, (a.high << bits_) / b.low + 1};
  }

  // e^-gamma. It is halved until it is at most 1, and the result squared as often. A gamma of
  // `bits` or more gives less than 2^-bits.
  Real exp_minus(const Fraction& gamma) const {
    const Integer numerator(gamma.numerator);
    Integer denominator(gamma.denominator);
    if (numerator >= denominator * bits_) return {Integer(0), Integer(1)};
    unsigned halvings = 0;
    for (; numerator > denominator; ++halvings) denominator *= 2;
    const Integer low = (numerator << bits_) / denominator;
    Real result = ratio(one(), exp_up_to_one({low, low + 1}));
    for (; halvings > 0; --halvings) result = product(result, result);
    return result;
  }

 private:
  // e^x for x <= 1 by its series. The terms after the last one, number i >= 1, are together at most
  // as large as that one, because each is at most 1 / (i + 1) of the one before.
  Real exp_up_to_one(const Real& x) const {
    Real term = one();
    Real total = one();
    for (unsigned i = 1; term.high > 2; ++i) {
      term = product(term, x);
      term.low /= i;
      term.high = term.high / i + 1;
      total = sum(total, term);
    }
    total.high += term.high;
    return total;
  }

  unsigned bits_;
  Integer unit_;
};

}  // namespace dpquantile
