#include "core/privacy/integer_noise.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/privacy/laplace_mechanism.hpp"
#include "core/privacy/rounded_quotient.hpp"

namespace dpquantile {

namespace {

constexpr int kGaussianVarianceBits = 61;

double as_double(Rational value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

}  // namespace

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

int gaussian_sensitivity_bits(double rho, int most) {
  const double room = kGaussianVarianceBits + std::log2(rho);
  const int bits = static_cast<int>(std::floor(room / 2));
  return std::clamp(bits, 0, most);
}

PrivacyCost integer_noise_cost(const PrivacyParameter& privacy) {
  return cost_with_rho(privacy, rho_of_pure(privacy.value));
}

}  // namespace dpquantile
