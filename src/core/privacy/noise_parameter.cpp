#include "core/privacy/noise_parameter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {
namespace {

constexpr double kSmallestEpsilon = 0x1p-30;
constexpr double kLargestEpsilon = 0x1p10;
constexpr int kEpsilonBits = 52;
constexpr double kSmallestRho = 0x1p-50;
constexpr double kLargestRho = 0x1p10;
constexpr int kRhoBits = 64;

// For a scale below 2^56, noise of magnitude 2^63 or more has a probability of about e^-128, which
// is below 2^-184.
constexpr int kLargestScaleBits = 56;
constexpr int kLargestVarianceBits = 110;

std::string fraction(Rational value) {
  return std::to_string(value.numerator) + "/" + std::to_string(value.denominator);
}

void require_positive(const std::string& name, Rational value) {
  if (value.numerator >= 1 && value.denominator >= 1) return;
  throw ParameterError("expected " + name + " above 0, got " + fraction(value),
                       "Give a numerator and a denominator of at least 1.");
}

constexpr int kLargestQuotientBits = 62;
constexpr int kMarginBits = 40;
constexpr int kMostFractionBits = 40;

int bit_width_128(uint128_t value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  if (high != 0) return 64 + static_cast<int>(std::bit_width(high));
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

constexpr std::uint64_t kMostVectorSensitivity = std::uint64_t{1} << 24;

}  // namespace

Rational rational_epsilon(double epsilon) {
  if (!(epsilon >= kSmallestEpsilon && epsilon <= kLargestEpsilon)) {
    throw ParameterError("expected epsilon from 2^-30 to 2^10, got " + shortest_decimal(epsilon),
                         "Choose an epsilon from 0.000000001 to 1024; 0.1 to 10 is usual.");
  }
  const double scaled = std::floor(std::ldexp(epsilon, kEpsilonBits));
  return reduced({static_cast<std::uint64_t>(scaled), std::uint64_t{1} << kEpsilonBits});
}

// Computes 2^63 / r for r = floor(rho * 2^64). For rho below 1/2, r has fewer than 64 bits. For a
// larger rho, rho * 2^64 is a whole number of at most 53 significant bits with zeros after them,
// which the reduction removes.
Rational gaussian_variance(double rho) {
  if (!(rho >= kSmallestRho && rho <= kLargestRho)) {
    throw ParameterError("expected rho from 2^-50 to 2^10, got " + shortest_decimal(rho),
                         "Choose a rho from 0.000000000000001 to 1024; 0.005 to 10 is usual.");
  }
  auto denominator = static_cast<uint128_t>(std::ldexp(rho, kRhoBits));
  std::uint64_t numerator = std::uint64_t{1} << (kRhoBits - 1);
  while (denominator % 2 == 0 && numerator > 1) {
    denominator /= 2;
    numerator /= 2;
  }
  return {numerator, static_cast<std::uint64_t>(denominator)};
}

Rational reduced(Rational value) {
  const std::uint64_t divisor = std::gcd(value.numerator, value.denominator);
  return {value.numerator / divisor, value.denominator / divisor};
}

Rational rounded_quotient(uint128_t dividend, std::uint64_t divisor) {
  const int whole_bits = bit_width_128(dividend / divisor);
  if (whole_bits >= kLargestQuotientBits) return kTooLargeQuotient;
  const int fraction_bits = std::min(
      {kMostFractionBits, kLargestQuotientBits - whole_bits, 127 - bit_width_128(dividend)});
  const uint128_t least = dividend << fraction_bits;
  const uint128_t shifted = least + (least >> kMarginBits) + 1;
  const uint128_t rounded_up = (shifted + divisor - 1) / divisor;
  return {static_cast<std::uint64_t>(rounded_up), std::uint64_t{1} << fraction_bits};
}

// sensitivity^2 is at most 2^48 and the numerator at most 2^63: no overflow.
uint128_t vector_noise_variance(double rho, std::uint64_t sensitivity) {
  check_rho(rho);
  if (sensitivity < 1 || sensitivity > kMostVectorSensitivity) {
    throw std::invalid_argument("the sensitivity is out of range");
  }
  const Rational unit = gaussian_variance(rho);
  const uint128_t square = uint128_t{sensitivity} * sensitivity;
  const uint128_t below = square * unit.numerator / unit.denominator;
  // The quotient is below + 1 at most; the last 1 rounds the margin up.
  return below + 1 + (below >> kMarginBits) + 1;
}

void check_laplace_scale(Rational scale) {
  require_positive("scale", scale);
  if (scale.numerator >> kLargestScaleBits < scale.denominator) return;
  throw ParameterError("expected a scale below 2^56, got " + fraction(scale),
                       "Choose a larger epsilon or coarser units, so that the noise fits in 64 "
                       "bits.");
}

void check_gaussian_variance(Rational sigma_squared) {
  require_positive("sigma squared", sigma_squared);
}

void check_gaussian_variance(uint128_t sigma_squared) {
  if (sigma_squared >= 1 && sigma_squared >> kLargestVarianceBits == 0) return;
  throw ParameterError("expected sigma squared from 1 to 2^110 - 1, got " +
                           shortest_decimal(static_cast<double>(sigma_squared)),
                       "Choose a larger rho, so that the noise fits in 64 bits.");
}

std::int64_t with_sign(bool negative, uint128_t magnitude) {
  if (magnitude > static_cast<uint128_t>(std::numeric_limits<std::int64_t>::max())) {
    throw std::overflow_error("a noise sample does not fit in 64 bits");
  }
  const auto value = static_cast<std::int64_t>(magnitude);
  return negative ? -value : value;
}

}  // namespace dpquantile
