#include "core/privacy/integer_noise.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"

namespace dpquantile {

namespace {

constexpr int kGaussianVarianceBits = 61;

double as_double(Rational value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

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

// discrete_laplace() refuses kTooLargeQuotient.
Rational laplace_scale(std::uint64_t sensitivity, Rational epsilon, std::uint64_t parts) {
  return rounded_quotient(uint128_t{sensitivity} * parts * epsilon.denominator, epsilon.numerator);
}

// sensitivity^2 is below 2^65 and the numerator is at most 2^63.
Rational gaussian_noise_variance(std::uint64_t sensitivity, double rho) {
  const Rational unit = gaussian_variance(rho);
  const uint128_t square = uint128_t{sensitivity} * sensitivity;
  const uint128_t limit = (uint128_t{1} << 126) / unit.numerator;
  const Rational variance = square > limit
                                ? kTooLargeQuotient
                                : rounded_quotient(square * unit.numerator, unit.denominator);
  if (as_double(variance) < std::ldexp(1, kGaussianVarianceBits)) return variance;
  throw ParameterError("the noise for rho " + shortest_decimal(rho) + " is too large",
                       "Choose a larger rho.");
}

IntegerNoise::IntegerNoise(const PrivacyParameter& privacy, std::uint64_t sensitivity)
    : measure_(privacy.measure) {
  check_privacy_parameter(privacy);
  if (measure_ == PrivacyMeasure::kPure) {
    parameter_ = laplace_scale(sensitivity, rational_epsilon(privacy.value), 1);
    spread_ = as_double(parameter_);
  } else {
    parameter_ = gaussian_noise_variance(sensitivity, privacy.value);
    spread_ = std::sqrt(as_double(parameter_));
  }
}

std::int64_t IntegerNoise::draw(RandomStream& random) const {
  return measure_ == PrivacyMeasure::kPure ? discrete_laplace(random, parameter_)
                                           : discrete_gaussian(random, parameter_);
}

NoiseTable IntegerNoise::table() const {
  return measure_ == PrivacyMeasure::kPure ? NoiseTable::laplace(parameter_)
                                           : NoiseTable::gaussian(parameter_);
}

int gaussian_sensitivity_bits(double rho, int most) {
  const double room = kGaussianVarianceBits + std::log2(rho);
  const int bits = static_cast<int>(std::floor(room / 2));
  return std::clamp(bits, 0, most);
}

PrivacyCost integer_noise_cost(const PrivacyParameter& privacy) {
  return cost_with_rho(privacy, rho_of_pure(privacy.value));
}

int128_t laplace_mechanism(const IntegerQuery& query, Rational epsilon, std::uint64_t parts,
                           RandomStream& random) {
  if (query.sensitivity == 0) return query.answer;
  const Rational scale = laplace_scale(query.sensitivity, epsilon, parts);
  return int128_t{query.answer} + discrete_laplace(random, scale);
}

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

std::uint32_t integer_mechanism_within(std::uint32_t largest, const IntegerQuery& query,
                                       const PrivacyParameter& privacy, std::uint64_t parts,
                                       RandomStream& random) {
  const int128_t noisy =
      privacy.measure == PrivacyMeasure::kPure
          ? laplace_mechanism(query, rational_epsilon(privacy.value), parts, random)
          : gaussian_mechanism(query, privacy.value / static_cast<double>(parts), random);
  return static_cast<std::uint32_t>(std::clamp<int128_t>(noisy, 0, largest));
}

}  // namespace dpquantile
