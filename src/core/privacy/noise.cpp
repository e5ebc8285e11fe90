#include "core/privacy/noise.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/privacy/exp_coin.hpp"

namespace dpquantile {
namespace {

// x >= 0 with probability proportional to exp(-x / t).
uint128_t geometric(RandomStream& random, std::uint64_t t) {
  std::uint64_t remainder = random.uniform_below(t);
  while (!bernoulli_exp(random, remainder, t)) remainder = random.uniform_below(t);
  std::uint64_t quotient = 0;
  while (bernoulli_exp_one(random)) ++quotient;
  return uint128_t{quotient} * t + remainder;  // at most (2^64 - 1)^2 + 2^64 - 2: no overflow
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
std::uint64_t proposal_scale(std::uint64_t variance) {
  return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(variance))) + 1;
}

// Proposes y from the discrete Laplace of scale t = floor(sigma) + 1 and keeps it with probability
// exp(-gamma), gamma = (|y| - sigma^2/t)^2 / (2 sigma^2) = (|y| d t - n)^2 / (2 n d t^2) for
// sigma^2 = n/d.
std::int64_t gaussian(RandomStream& random, std::uint64_t n, std::uint64_t d) {
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
  check_laplace_scale(scale);
  const auto [t, s] = reduced(scale);
  for (;;) {
    const uint128_t magnitude = geometric(random, t) / s;
    const bool negative = random.uniform_below(2) == 1;
    const bool second_zero = negative && magnitude == 0;
    if (!second_zero) return with_sign(negative, magnitude);
  }
}

std::int64_t discrete_gaussian(RandomStream& random, Rational sigma_squared) {
  check_gaussian_variance(sigma_squared);
  const auto [n, d] = reduced(sigma_squared);
  return gaussian(random, n, d);
}

}  // namespace dpquantile
