#pragma once

#include <cstdint>

#include "core/privacy/mechanism.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// Noise for integer queries of one sensitivity under a guarantee of either measure: discrete
// Laplace noise of scale sensitivity / epsilon, or discrete Gaussian noise of parameter
// sigma^2 = sensitivity^2 / (2 rho). Scale and sigma^2 are rounded up, by a relative 2^-40 at
// least (rounded_quotient.hpp).
//
// Privacy: independent draws, one added to each coordinate of a vector of integer queries, make it
// epsilon-differentially private if its l1 sensitivity is at most `sensitivity`, or rho-zCDP if its
// l2 sensitivity is (docs/privacy.md, "Noise samplers").
class IntegerNoise {
 public:
  // Requires 1 <= sensitivity <= kMostNoiseSensitivity. Throws ParameterError as
  // check_privacy_parameter() does, and if the noise would be too large for the samplers: a scale
  // of 2^56, which takes a sensitivity above 2^36 for any epsilon, or a sigma^2 of 2^61; see
  // gaussian_sensitivity_bits().
  IntegerNoise(const PrivacyParameter& privacy, std::uint64_t sensitivity);

  // Throws RandomnessUnavailable, and std::overflow_error as the samplers do.
  std::int64_t draw(RandomStream& random) const;

  // The scale of Laplace noise, the sigma of Gaussian noise: public.
  double spread() const { return spread_; }

 private:
  PrivacyMeasure measure_;
  Rational parameter_;
  double spread_;
};

inline constexpr std::uint64_t kMostNoiseSensitivity = (std::uint64_t{1} << 32) + 16;

// The sigma^2 of Gaussian noise for this sensitivity: sensitivity^2 / (2 rho), rounded up as above.
// Throws ParameterError unless 2^-50 <= rho <= 2^10 and the result is below 2^61. Requires
// 1 <= sensitivity <= kMostNoiseSensitivity.
Rational gaussian_noise_variance(std::uint64_t sensitivity, double rho);

// The most b, at most `most`, for which Gaussian noise of sensitivity 2^b + 16 has a sigma^2 below
// 2^61. At least 10 for every rho that check_rho() accepts. Requires 0 <= most <= 31.
int gaussian_sensitivity_bits(double rho, int most);

// The cost of a mechanism with this guarantee that draws nothing but IntegerNoise once.
PrivacyCost integer_noise_cost(const PrivacyParameter& privacy);

}  // namespace dpquantile
