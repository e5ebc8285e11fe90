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

// By as many bits as the number has room for. A 0 has room for any.
void shift_left(Limbs number, unsigned shift) {
  if (shift == 0) return;
  const std::size_t limbs = std::min<std::size_t>(shift / kLimbBits, number.size());
  for (std::size_t i = number.size(); i-- > 0;) {
    const std::uint64_t high = i >= limbs ? number[i - limbs] : 0;
    const std::uint64_t low = i > limbs ? number[i - limbs - 1] : 0;
    number[i] =
        static_cast<std::uint32_t>((high << kLimbBits | low) >> (kLimbBits - shift % kLimbBits));
  }
}

bool is_negative(ConstLimbs number) {
  return (number.back() >> (kLimbBits - 1)) != 0;
}

void negate(Limbs number) {
  for (std::uint32_t& limb : number) limb = ~limb;
  add_to(number, 1, 0);
}

template <std::size_t kLimbs>
detail::WideInteger<kLimbs> magnitude_of(detail::WideInteger<kLimbs> number) {
  if (is_negative(number)) negate(number);
  return number;
}

void add_double(Limbs sum, double x, const Magnitude& added, unsigned position) {
  if (std::signbit(x)) {
    subtract_from(sum, added.mantissa, position);
  } else {
    add_to(sum, added.mantissa, position);
  }
}

// The square of high * 2^27 + low, in three products below 2^64
void add_square(Limbs squares, std::uint64_t mantissa, unsigned position) {
  constexpr unsigned kHalf = 27;
  const std::uint64_t high = mantissa >> kHalf;
  const std::uint64_t low = mantissa & ((std::uint64_t{1} << kHalf) - 1);
  add_to(squares, low * low, position);
  add_to(squares, high * low, position + kHalf + 1);
  add_to(squares, high * high, position + 2 * kHalf);
}

// Adds a number that is not negative, or subtracts it.
void add_number(Limbs sum, ConstLimbs number, unsigned position, bool is_subtracted) {
  for (const std::uint32_t limb : number) {
    if (is_subtracted) {
      subtract_from(sum, limb, position);
    } else {
      add_to(sum, limb, position);
    }
    position += kLimbBits;
  }
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

template <std::size_t kLimbs>
ScaledDouble rounded_sum(const detail::WideInteger<kLimbs>& sum, int bits, int unit) {
  const ScaledDouble found = rounded_magnitude(magnitude_of(sum), bits, unit);
  return is_negative(sum) ? ScaledDouble{-found.mantissa, found.exponent} : found;
}

// count * squares - sum^2, in units of 2^unit. All of it fits into the limbs of the squares.
template <std::size_t kLimbs>
ScaledDouble deviations(const detail::WideInteger<kLimbs>& total,
                        const detail::WideInteger<2 * kLimbs>& squares, std::uint64_t count,
                        int unit) {
  const auto magnitude = magnitude_of(total);
  detail::WideInteger<2 * kLimbs> result{};
  add_product(result, squares, static_cast<std::uint32_t>(count), 0);
  add_product(result, ConstLimbs(squares).first(squares.size() - 1),
              static_cast<std::uint32_t>(count >> kLimbBits), 1);
  const auto [lowest, sum] = significant(magnitude);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    subtract_product(result, sum, sum[i], 2 * lowest + i);
  }
  return rounded_magnitude(result, kMantissaBits + 1, unit);
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
  add_double(units_, x, added, added.position);
}

ScaledDouble ExactSum::rounded(int bits) const {
  return rounded_sum(units_, bits, kLowestExponent);
}

void ExactSums::add(double x) {
  ++count_;
  sum_.add(x);
  const Magnitude added(x);
  add_square(squares_, added.mantissa, 2 * added.position);
}

ScaledDouble ExactSums::deviations_times_count() const {
  return deviations(sum_.units_, squares_, count_, 2 * kLowestExponent);
}

// Numbers of 111 bits: 2^16 of them have a sum of 127 bits, and their squares one of 238.
bool NarrowSum::try_add(double x) {
  constexpr std::uint32_t kMostValues = 1 << 16;
  constexpr int kMostBits = 111;
  if (count_ == kMostValues) return false;
  const Magnitude added(x);
  if (added.mantissa != 0) {
    const auto position = static_cast<std::int16_t>(added.position);
    const std::int16_t first = std::min(first_, position);
    const auto end = std::max(end_, static_cast<std::int16_t>(position + kMantissaBits + 1));
    if (end - first > kMostBits) return false;
    shift_left(units_, static_cast<unsigned>(first_ - first));
    first_ = first;
    end_ = end;
    add_double(units_, x, added, static_cast<unsigned>(position - first));
  }
  ++count_;
  return true;
}

ScaledDouble NarrowSum::rounded(int bits) const {
  return rounded_sum(units_, bits, kLowestExponent + first_);
}

ExactSum NarrowSum::widened() const {
  ExactSum sum;
  if (end_ == 0) return sum;
  add_number(sum.units_, magnitude_of(units_), static_cast<unsigned>(first_), is_negative(units_));
  return sum;
}

bool NarrowSums::try_add(double x) {
  const std::int16_t first = sum_.first_;
  if (!sum_.try_add(x)) return false;
  shift_left(squares_, 2 * static_cast<unsigned>(first - sum_.first_));
  const Magnitude added(x);
  if (added.mantissa != 0) {
    add_square(squares_, added.mantissa, 2 * (added.position - static_cast<unsigned>(sum_.first_)));
  }
  return true;
}

ScaledDouble NarrowSums::deviations_times_count() const {
  return deviations(sum_.units_, squares_, sum_.count_, 2 * (kLowestExponent + sum_.first_));
}

ExactSums NarrowSums::widened() const {
  ExactSums sums;
  sums.count_ = sum_.count_;
  sums.sum_ = sum_.widened();
  if (sum_.end_ != 0)
    add_number(sums.squares_, squares_, 2 * static_cast<unsigned>(sum_.first_), false);
  return sums;
}

}  // namespace dpquantile
