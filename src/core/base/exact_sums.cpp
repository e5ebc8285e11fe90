#include "core/base/exact_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "core/base/wide_real.hpp"

namespace dpquantile {

namespace {

using Limbs = std::span<std::uint32_t>;
using ConstLimbs = std::span<const std::uint32_t>;

constexpr unsigned kLimbBits = 32;
constexpr int kLowestExponent = -1074;  // of the least double above 0
constexpr int kMantissaBits = std::numeric_limits<double>::digits - 1;

// A finite double: mantissa * 2^(kLowestExponent + position), without its sign.
struct Magnitude {
  std::uint64_t mantissa;
  unsigned position;

  explicit Magnitude(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    constexpr std::uint64_t kHidden = std::uint64_t{1} << kMantissaBits;
    const auto exponent = static_cast<unsigned>(bits >> kMantissaBits) & 0x7FF;
    mantissa = (bits & (kHidden - 1)) | (exponent == 0 ? 0 : kHidden);
    position = exponent == 0 ? 0 : exponent - 1;
  }
};

// The three limbs of number * 2^shift, shift < 32.
struct Shifted {
  std::array<std::uint32_t, 3> limbs;

  Shifted(std::uint64_t number, unsigned shift) {
    const std::uint64_t low = number << shift;
    limbs[0] = static_cast<std::uint32_t>(low);
    limbs[1] = static_cast<std::uint32_t>(low >> kLimbBits);
    limbs[2] = shift == 0 ? 0 : static_cast<std::uint32_t>(number >> (64 - shift));
  }
};

void add_to(Limbs sum, std::uint64_t number, unsigned position) {
  const Shifted added(number, position % kLimbBits);
  std::uint64_t carry = 0;
  for (std::size_t i = position / kLimbBits, part = 0; i < sum.size(); ++i, ++part) {
    carry += std::uint64_t{sum[i]} + (part < added.limbs.size() ? added.limbs[part] : 0);
    sum[i] = static_cast<std::uint32_t>(carry);
    carry >>= kLimbBits;
    if (part + 1 >= added.limbs.size() && carry == 0) return;
  }
}

void subtract_from(Limbs sum, std::uint64_t number, unsigned position) {
  const Shifted taken(number, position % kLimbBits);
  std::uint64_t borrow = 0;
  for (std::size_t i = position / kLimbBits, part = 0; i < sum.size(); ++i, ++part) {
    const std::uint64_t less = borrow + (part < taken.limbs.size() ? taken.limbs[part] : 0);
    borrow = sum[i] < less ? 1 : 0;
    sum[i] = static_cast<std::uint32_t>(sum[i] - less);
    if (part + 1 >= taken.limbs.size() && borrow == 0) return;
  }
}

bool is_negative(ConstLimbs number) {
  return (number.back() >> (kLimbBits - 1)) != 0;
}

void negate(Limbs number) {
  for (std::uint32_t& limb : number) limb = ~limb;
  add_to(number, 1, 0);
}

// The limbs of a number without zeros at both ends.
struct SignificantLimbs {
  std::size_t lowest;  // how many zeros were below
  ConstLimbs limbs;
};

SignificantLimbs significant(ConstLimbs number) {
  std::size_t end = number.size();
  while (end > 0 && number[end - 1] == 0) --end;
  std::size_t lowest = 0;
  while (lowest < end && number[lowest] == 0) ++lowest;
  return {lowest, number.subspan(lowest, end - lowest)};
}

// target += factor * other * 2^(32 * place). The sum fits.
void add_product(Limbs target, ConstLimbs other, std::uint32_t factor, std::size_t place) {
  std::uint64_t carry = 0;
  std::size_t i = place;
  for (const std::uint32_t limb : other) {
    carry += std::uint64_t{limb} * factor + target[i];
    target[i++] = static_cast<std::uint32_t>(carry);
    carry >>= kLimbBits;
  }
  for (; carry != 0; ++i) {
    carry += target[i];
    target[i] = static_cast<std::uint32_t>(carry);
    carry >>= kLimbBits;
  }
}

// The same as -=. The difference is not negative.
void subtract_product(Limbs target, ConstLimbs other, std::uint32_t factor, std::size_t place) {
  std::uint64_t borrow = 0;
  std::size_t i = place;
  for (const std::uint32_t limb : other) {
    borrow += std::uint64_t{limb} * factor;
    const auto less = static_cast<std::uint32_t>(borrow);
    borrow = (borrow >> kLimbBits) + (target[i] < less ? 1 : 0);
    target[i++] -= less;
  }
  for (; borrow != 0; ++i) {
    const auto less = static_cast<std::uint32_t>(borrow);
    borrow = target[i] < less ? 1 : 0;
    target[i] -= less;
  }
}

std::uint32_t limb_at(ConstLimbs number, std::size_t i) {
  return i < number.size() ? number[i] : 0;
}

// The bits from `position` on, 64 of them.
std::uint64_t bits_from(ConstLimbs number, std::size_t position) {
  const std::size_t limb = position / kLimbBits;
  const unsigned shift = position % kLimbBits;
  const std::uint64_t low = limb_at(number, limb) | std::uint64_t{limb_at(number, limb + 1)}
                                                        << kLimbBits;
  const std::uint64_t high = limb_at(number, limb + 2);
  return shift == 0 ? low : low >> shift | high << (64 - shift);
}

bool has_bits_below(ConstLimbs number, std::size_t position) {
  const std::size_t limb = position / kLimbBits;
  const std::uint32_t mask = (std::uint32_t{1} << position % kLimbBits) - 1;
  return (limb_at(number, limb) & mask) != 0 ||
         std::ranges::any_of(number.first(limb), [](std::uint32_t other) { return other != 0; });
}

std::size_t bit_length(ConstLimbs number) {
  const auto [lowest, limbs] = significant(number);
  return limbs.empty() ? 0
                       : (lowest + limbs.size()) * kLimbBits -
                             static_cast<std::size_t>(std::countl_zero(limbs.back()));
}

// A number that is not negative, in units of 2^unit, rounded to so many bits.
ScaledDouble rounded_magnitude(ConstLimbs number, int bits, int unit) {
  const std::size_t length = bit_length(number);
  if (length == 0) return {0, 0};
  const auto kept = static_cast<std::size_t>(bits);
  const std::size_t dropped = length > kept ? length - kept : 0;
  std::uint64_t mantissa = bits_from(number, dropped);
  const bool is_half_or_more = dropped > 0 && (bits_from(number, dropped - 1) & 1) != 0;
  if (is_half_or_more && ((mantissa & 1) != 0 || has_bits_below(number, dropped - 1))) ++mantissa;
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(mantissa), &exponent);
  return {fraction, exponent + static_cast<int>(dropped) + unit};
}

}  // namespace

double ScaledDouble::value() const {
  return std::ldexp(mantissa, exponent) + 0.0;
}

double ScaledDouble::square_root() const {
  const int odd = exponent & 1;
  return std::ldexp(std::sqrt(std::ldexp(mantissa, odd)), (exponent - odd) / 2);
}

ScaledDouble ScaledDouble::divided_by(double divisor) const {
  int more = 0;
  const double quotient = std::frexp(mantissa / divisor, &more);
  return {quotient, quotient == 0 ? 0 : exponent + more};
}

void ExactSum::add(double x) {
  const Magnitude added(x);
  if (std::signbit(x)) {
    subtract_from(units_, added.mantissa, added.position);
  } else {
    add_to(units_, added.mantissa, added.position);
  }
}

ScaledDouble ExactSum::rounded(int bits) const {
  if (!is_negative(units_)) return rounded_magnitude(units_, bits, kLowestExponent);
  auto magnitude = units_;
  negate(magnitude);
  const ScaledDouble found = rounded_magnitude(magnitude, bits, kLowestExponent);
  return {-found.mantissa, found.exponent};
}

void ExactSums::add(double x) {
  ++count_;
  sum_.add(x);
  // The square of high * 2^27 + low, in three products below 2^64
  constexpr unsigned kHalf = 27;
  const Magnitude added(x);
  const std::uint64_t high = added.mantissa >> kHalf;
  const std::uint64_t low = added.mantissa & ((std::uint64_t{1} << kHalf) - 1);
  const unsigned position = 2 * added.position;
  add_to(squares_, low * low, position);
  add_to(squares_, high * low, position + kHalf + 1);
  add_to(squares_, high * high, position + 2 * kHalf);
}

ScaledDouble ExactSums::deviations_times_count() const {
  auto magnitude = sum_.units_;
  if (is_negative(magnitude)) negate(magnitude);
  detail::WideInteger<kLimbs> result{};
  add_product(result, squares_, static_cast<std::uint32_t>(count_), 0);
  add_product(result, ConstLimbs(squares_).first(kLimbs - 1),
              static_cast<std::uint32_t>(count_ >> kLimbBits), 1);
  const auto [lowest, sum] = significant(magnitude);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    subtract_product(result, sum, sum[i], 2 * lowest + i);
  }
  return rounded_magnitude(result, kMantissaBits + 1, 2 * kLowestExponent);
}

}  // namespace dpquantile
