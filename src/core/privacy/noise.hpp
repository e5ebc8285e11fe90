#pragma once

#include <cstdint>

#include "core/privacy/random.hpp"

// Exact samplers of noise on the integers (Canonne, Kamath, Steinke 2020, "The Discrete Gaussian
// for Differential Privacy"). Rational parameters, integer arithmetic, no floating-point logarithm.
// docs/privacy.md, "Noise samplers", proves them exact. A fraction need not be in lowest terms. All
// samplers throw ParameterError for parameters out of range, RandomnessUnavailable when the source
// fails, and then return no noise. Their running time depends on the noise that they draw.
namespace dpquantile {

// A non-negative rational number; the denominator is at least 1.
struct Rational {
  std::uint64_t numerator;
  std::uint64_t denominator;
};

// epsilon as a rational that is never larger: floor(epsilon * 2^52) / 2^52, in lowest terms.
// Requires 2^-30 <= epsilon <= 2^10 (ParameterError otherwise, NaN included); rounding down costs
// at most 2^-22 of epsilon and only ever adds noise.
Rational rational_epsilon(double epsilon);

// The variance 1 / (2 rho) of Gaussian noise that makes an integer query of sensitivity 1
// rho-zCDP, as a rational that is never smaller: 1 / (2 r) for r = floor(rho * 2^64) / 2^64, in
// lowest terms; its numerator is a power of two. Requires 2^-50 <= rho <= 2^10 (ParameterError
// otherwise, NaN included); rounding costs at most 2^-14 of rho, below 2^-24 from 10^-12 on and
// nothing from 1/2 on, and only ever adds noise.
Rational gaussian_variance(double rho);

// True with probability exp(-gamma), exactly, for any gamma >= 0 (CKS20, Algorithm 1). Requires
// denominator >= 1.
bool bernoulli_exp(RandomStream& random, uint128_t gamma_numerator, uint128_t gamma_denominator);

// A draw from the discrete Laplace distribution with the given scale s = numerator/denominator > 0:
// P[y] = (1 - e^(-1/s)) / (1 + e^(-1/s)) * e^(-|y|/s), y in the integers (CKS20, Algorithm 2).
// Requires s < 2^56. Nothing is truncated: a draw that does not fit in 64 bits, of probability
// below 2^-184, throws std::overflow_error.
//
// Privacy: added to an integer query of sensitivity D it is (D/s)-DP.
std::int64_t discrete_laplace(RandomStream& random, Rational scale);

// A draw from the discrete Gaussian distribution with parameter sigma^2 = numerator/denominator >
// 0: P[y] proportional to e^(-y^2 / (2 sigma^2)), y in the integers (CKS20, Algorithm 3). Any
// positive numerator and denominator will do: sigma is below 2^32, and a draw that does not fit in
// 64 bits, of probability below 2^-184, throws std::overflow_error.
//
// Privacy: added to an integer query of sensitivity D it is D^2/(2 sigma^2)-zCDP.
std::int64_t discrete_gaussian(RandomStream& random, Rational sigma_squared);

}  // namespace dpquantile
