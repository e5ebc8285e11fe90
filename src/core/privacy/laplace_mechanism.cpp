#include "core/privacy/laplace_mechanism.hpp"

#include <algorithm>
#include <bit>

namespace dpquantile {

namespace {

// discrete_laplace() refuses this scale.
constexpr Rational kTooLarge{std::uint64_t{1} << 62, 1};
constexpr int kLargestBits = 62;
constexpr int kSlackBits = 40;
constexpr int kMostFractionBits = 40;

int bit_width_128(uint128_t value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  if (high != 0) return 64 + static_cast<int>(std::bit_width(high));
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

}  // namespace

Rational laplace_scale(std::uint64_t sensitivity, Rational epsilon, std::uint64_t parts) {
  const uint128_t dividend = uint128_t{sensitivity} * parts * epsilon.denominator;
  const int whole_bits = bit_width_128(dividend / epsilon.numerator);
  if (whole_bits >= kLargestBits) return kTooLarge;
  const int fraction_bits =
      std::min({kMostFractionBits, kLargestBits - whole_bits, 127 - bit_width_128(dividend)});
  const uint128_t least = dividend << fraction_bits;
  const uint128_t shifted = least + (least >> kSlackBits) + 1;
  const uint128_t rounded_up = (shifted + epsilon.numerator - 1) / epsilon.numerator;
  return {static_cast<std::uint64_t>(rounded_up), std::uint64_t{1} << fraction_bits};
}

int128_t laplace_mechanism(const IntegerQuery& query, Rational epsilon, std::uint64_t parts,
                           RandomStream& random) {
  if (query.sensitivity == 0) return query.answer;
  const Rational scale = laplace_scale(query.sensitivity, epsilon, parts);
  return int128_t{query.answer} + discrete_laplace(random, scale);
}

std::uint32_t laplace_mechanism_within(std::uint32_t largest, const IntegerQuery& query,
                                       Rational epsilon, std::uint64_t parts,
                                       RandomStream& random) {
  const int128_t noisy = laplace_mechanism(query, epsilon, parts, random);
  return static_cast<std::uint32_t>(std::clamp<int128_t>(noisy, 0, largest));
}

}  // namespace dpquantile
