#include "core/privacy/noise.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"

namespace dpquantile {
namespace {

// The Gaussian's acceptance test needs 2 * (63 + 64 + 33) bits for its 64-bit parameters, and one
// digit of bernoulli() needs 64 more. A checked type throws on overflow and never wraps.
using Wide = boost::multiprecision::checked_uint512_t;

constexpr double kSmallestEpsilon = 0x1p-30;
constexpr double kLargestEpsilon = 0x1p10;
constexpr int kEpsilonBits = 52;
constexpr double kSmallestRho = 0x1p-50;
constexpr double kLargestRho = 0x1p10;
constexpr int kRhoBits = 64;

// For a scale below 2^56, noise of magnitude 2^63 or more has a probability of about e^-128, which
// is below 2^-184.
constexpr int kLargestScaleBits = 56;
// The proposals for this variance have a scale of at most 2^55.
constexpr int kLargestVarianceBits = 110;

std::string fraction(Rational value) {
  return std::to_string(value.numerator) + "/" + std::to_string(value.denominator);
}

Rational reduced(Rational value) {
  const std::uint64_t divisor = std::gcd(value.numerator, value.denominator);
  return {value.numerator / divisor, value.denominator / divisor};
}

void require_positive(const std::string& name, Rational value) {
  if (value.numerator >= 1 && value.denominator >= 1) return;
  throw ParameterError("expected " + name + " above 0, got " + fraction(value),
                       "Give a numerator and a denominator of at least 1.");
}

void require_scale(Rational scale) {
  require_positive("scale", scale);
  if (scale.numerator >> kLargestScaleBits < scale.denominator) return;
  throw ParameterError("expected a scale below 2^56, got " + fraction(scale),
                       "Choose a larger epsilon or coarser units, so that the noise fits in 64 "
                       "bits.");
}

// True with probability numerator/denominator. Requires numerator <= denominator.
bool bernoulli(RandomStream& random, uint128_t numerator, uint128_t denominator) {
  return random.uniform_below_128(denominator) < numerator;
}

// Returns the same without a uniform draw below a wide bound. It compares the binary expansions of
// a uniform real and of the fraction, 64 bits at a time, until they differ.
bool bernoulli(RandomStream& random, Wide numerator, const Wide& denominator) {
  static const Wide two_to_64 = Wide(1) << 64;
  for (;;) {
    numerator *= two_to_64;
    const Wide digit = numerator / denominator;
    const Wide drawn = random.bits64();
    if (drawn != digit) return drawn < digit;
    numerator %= denominator;
  }
}

// CKS20, Algorithm 1, for gamma = numerator/denominator <= 1. A trial of probability gamma/k is
// drawn as two independent trials, of probability gamma and 1/k, so that no product is formed.
template <class Integer>
bool bernoulli_exp_up_to_one(RandomStream& random, const Integer& numerator,
                             const Integer& denominator) {
  std::uint64_t k = 1;
  while (random.uniform_below(k) == 0 && bernoulli(random, numerator, denominator)) ++k;
  return k % 2 == 1;
}

bool bernoulli_exp_one(RandomStream& random) {
  return bernoulli_exp_up_to_one(random, uint128_t{1}, uint128_t{1});
}

// exp(-gamma) = exp(-1)^floor(gamma) * exp(-fraction). A large gamma takes little time, because the
// first trial that fails ends the draw.
template <class Integer>
bool bernoulli_exp_of_any(RandomStream& random, const Integer& numerator,
                          const Integer& denominator) {
  for (Integer whole = numerator / denominator; whole > 0; --whole) {
    if (!bernoulli_exp_one(random)) return false;
  }
  return bernoulli_exp_up_to_one(random, Integer(numerator % denominator), denominator);
}

// x >= 0 with probability proportional to exp(-x / t).
uint128_t geometric(RandomStream& random, std::uint64_t t) {
  std::uint64_t remainder = random.uniform_below(t);
  while (!bernoulli_exp(random, remainder, t)) remainder = random.uniform_below(t);
  std::uint64_t quotient = 0;
  while (bernoulli_exp_one(random)) ++quotient;
  return uint128_t{quotient} * t + remainder;  // at most (2^64 - 1)^2 + 2^64 - 2: no overflow
}

std::int64_t with_sign(bool negative, uint128_t magnitude) {
  if (magnitude > static_cast<uint128_t>(std::numeric_limits<std::int64_t>::max())) {
    throw std::overflow_error("a noise sample does not fit in 64 bits");
  }
  const auto value = static_cast<std::int64_t>(magnitude);
  return negative ? -value : value;
}

Wide absolute(std::int64_t value) {
  return value < 0 ? Wide(-value) : Wide(value);
}

// The square of |left - right|.
Wide squared_difference(const Wide& left, const Wide& right) {
  const Wide difference = left < right ? Wide(right - left) : Wide(left - right);
  return difference * difference;
}

// The proposal is exact for any t >= 1, so rounding does no harm. It is accepted most often for a t
// near floor(sigma) + 1.
std::uint64_t proposal_scale(uint128_t variance) {
  return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(variance))) + 1;
}

// Proposes y from the discrete Laplace of scale t = floor(sigma) + 1 and keeps it with probability
// exp(-gamma), gamma = (|y| - sigma^2/t)^2 / (2 sigma^2) = (|y| d t - n)^2 / (2 n d t^2) for
// sigma^2 = n/d.
std::int64_t gaussian(RandomStream& random, uint128_t n, std::uint64_t d) {
  const std::uint64_t t = proposal_scale(n / d);
  const Wide variance(n);
  const Wide unit = Wide(d) * t;
  const Wide denominator = Wide(2) * variance * t * unit;
  for (;;) {
    const std::int64_t y = discrete_laplace(random, {t, 1});
    const Wide numerator = squared_difference(absolute(y) * unit, variance);
    if (bernoulli_exp_of_any(random, numerator, denominator)) return y;
  }
}

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

bool bernoulli_exp(RandomStream& random, uint128_t gamma_numerator, uint128_t gamma_denominator) {
  if (gamma_denominator == 0) {
    throw ParameterError("expected a gamma with a denominator above 0, got 0",
                         "Give a denominator of at least 1.");
  }
  return bernoulli_exp_of_any(random, gamma_numerator, gamma_denominator);
}

// For scale = t/s, a geometric x with parameter t gives y = x/s, rounded down, with probability
// proportional to exp(-y s/t). A zero with a negative sign is drawn again; otherwise zero would be
// twice too likely.
std::int64_t discrete_laplace(RandomStream& random, Rational scale) {
  require_scale(scale);
  const auto [t, s] = reduced(scale);
  for (;;) {
    const uint128_t magnitude = geometric(random, t) / s;
    const bool negative = random.uniform_below(2) == 1;
    const bool second_zero = negative && magnitude == 0;
    if (!second_zero) return with_sign(negative, magnitude);
  }
}

std::int64_t discrete_gaussian(RandomStream& random, Rational sigma_squared) {
  require_positive("sigma squared", sigma_squared);
  const auto [n, d] = reduced(sigma_squared);
  return gaussian(random, n, d);
}

std::int64_t wide_discrete_gaussian(RandomStream& random, uint128_t sigma_squared) {
  if (sigma_squared >= 1 && sigma_squared >> kLargestVarianceBits == 0) {
    return gaussian(random, sigma_squared, 1);
  }
  throw ParameterError("expected sigma squared from 1 to 2^110 - 1, got " +
                           shortest_decimal(static_cast<double>(sigma_squared)),
                       "Choose a larger rho, so that the noise fits in 64 bits.");
}

}  // namespace dpquantile
