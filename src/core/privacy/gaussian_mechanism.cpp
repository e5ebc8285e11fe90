#include "core/privacy/gaussian_mechanism.hpp"

#include <algorithm>
#include <cmath>

#include "core/privacy/integer_noise.hpp"
#include "core/privacy/noise.hpp"

namespace dpquantile {

namespace {

// The largest sensitivity for which sigma^2 is certainly below 2^61. At least 63 for the least rho.
std::uint64_t most_sensitivity(double rho) {
  constexpr double kMargin = 1.0 / 1024;
  const double most = std::ldexp(std::sqrt(rho), 31) * (1 - kMargin);
  return static_cast<std::uint64_t>(std::min(most, static_cast<double>(kMostNoiseSensitivity)));
}

std::uint64_t in_units(std::uint64_t sensitivity, unsigned unit_bits) {
  return ((sensitivity - 1) >> unit_bits) + 1;
}

}  // namespace

int128_t gaussian_mechanism(const IntegerQuery& query, double rho, RandomStream& random) {
  if (query.sensitivity == 0) return query.answer;
  gaussian_variance(rho);  // refuses a rho out of range
  const std::uint64_t most = most_sensitivity(rho);
  unsigned unit_bits = 0;
  while (in_units(query.sensitivity, unit_bits) > most) ++unit_bits;
  const Rational variance = gaussian_noise_variance(in_units(query.sensitivity, unit_bits), rho);
  const auto answer = static_cast<int128_t>(query.answer >> unit_bits);
  return (answer + discrete_gaussian(random, variance)) * (int128_t{1} << unit_bits);
}

}  // namespace dpquantile
