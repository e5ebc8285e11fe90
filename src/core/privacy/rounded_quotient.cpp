#include "core/privacy/rounded_quotient.hpp"

#include <algorithm>
#include <bit>

namespace dpquantile {

namespace {

constexpr int kLargestBits = 62;
constexpr int kSlackBits = 40;
constexpr int kMostFractionBits = 40;

int bit_width_128(uint128_t value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  if (high != 0) return 64 + static_cast<int>(std::bit_width(high));
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

}  // namespace

Rational rounded_quotient(uint128_t dividend, std::uint64_t divisor) {
  const int whole_bits = bit_width_128(dividend / divisor);
  if (whole_bits >= kLargestBits) return kTooLargeQuotient;
  const int fraction_bits =
      std::min({kMostFractionBits, kLargestBits - whole_bits, 127 - bit_width_128(dividend)});
  const uint128_t least = dividend << fraction_bits;
  const uint128_t shifted = least + (least >> kSlackBits) + 1;
  const uint128_t rounded_up = (shifted + divisor - 1) / divisor;
  return {static_cast<std::uint64_t>(rounded_up), std::uint64_t{1} << fraction_bits};
}

}  // namespace dpquantile
