#pragma once

#include <cstdint>

#include "core/base/int128.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/noise_table.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// Noise for integer queries of one sensitivity under a guarantee of either measure: discrete
// Laplace noise of scale sensitivity / epsilon, or discrete Gaussian noise of parameter
// sigma^2 = sensitivity^2 / (2 rho). Scale and sigma^2 are rounded up, by a relative 2^-40 at
// least (noise_parameter.hpp).
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
  // The same noise for some hundred draws or more. Throws what the factories of NoiseTable throw.
  NoiseTable table() const;

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

// An exact integer answer, and the most by which it can differ between neighbours. The sensitivity
// is public, the answer is not.
struct IntegerQuery {
  std::uint64_t answer;       // at most 2^63
  std::uint64_t sensitivity;  // at most 2^34
};

// The scale of discrete Laplace noise for one of `parts` queries that share epsilon:
// sensitivity * parts / epsilon, made larger by a relative 2^-40 to 2^-20. The margin of 2^-40 pays
// for charging the shortest decimal of epsilon, which may lie a relative 2^-53 below the double. A
// scale of 2^61 or more becomes 2^62, which discrete_laplace() refuses. Requires sensitivity >= 1,
// parts >= 1, and a product of at most 2^58.
Rational laplace_scale(std::uint64_t sensitivity, Rational epsilon, std::uint64_t parts);

// The answer plus discrete Laplace noise of scale laplace_scale(). A query of sensitivity 0 is a
// public constant and gets no noise.
//
// Privacy: (epsilon / parts)-differentially private (docs/privacy.md, "Noise samplers").
//
// Throws ParameterError if the scale would be 2^56 or more (epsilon / parts below 2^-22 for the
// largest sensitivity), RandomnessUnavailable if the random source fails, and std::overflow_error
// as discrete_laplace() does.
int128_t laplace_mechanism(const IntegerQuery& query, Rational epsilon, std::uint64_t parts,
                           RandomStream& random);

// The answer plus discrete Gaussian noise of sigma^2 = sensitivity^2 / (2 rho), rounded up as
// IntegerNoise does. Where sigma^2 would be too large for the sampler, the answer and the
// sensitivity are first counted in units of a power of two, the answer rounded down and the
// sensitivity up; the result is a multiple of the unit. A unit is less than a 2^-29th of sigma. A
// query of sensitivity 0 is a public constant and gets no noise.
//
// Privacy: rho-zCDP (docs/privacy.md, "Noise samplers"), also if rho lies a relative 2^-41 above
// what is charged.
//
// Throws ParameterError unless 2^-50 <= rho <= 2^10, RandomnessUnavailable if the random source
// fails, and std::overflow_error as discrete_gaussian() does.
int128_t gaussian_mechanism(const IntegerQuery& query, double rho, RandomStream& random);

// The answer of laplace_mechanism() or gaussian_mechanism(), by the measure of the guarantee, for
// one of `parts` queries that share it, clamped to 0 .. largest. Clamping is post-processing and
// has no privacy implication.
//
// Privacy: (epsilon / parts)-differentially private, or (rho / parts)-zCDP.
//
// Throws what the two mechanisms throw. Requires parts >= 1.
std::uint32_t integer_mechanism_within(std::uint32_t largest, const IntegerQuery& query,
                                       const PrivacyParameter& privacy, std::uint64_t parts,
                                       RandomStream& random);

}  // namespace dpquantile
