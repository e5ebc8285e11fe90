#pragma once

#include <cstdint>

#include "core/base/int128.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "core/privacy/random.hpp"

// Exact samplers of noise on the integers (Canonne, Kamath, Steinke 2020, "The Discrete Gaussian
// for Differential Privacy", CKS20). They take rational parameters and use integer arithmetic
// without a floating-point logarithm. docs/privacy.md, "Noise samplers", proves that they are
// exact. A fraction need not be in lowest terms. All samplers throw ParameterError for parameters
// out of range and RandomnessUnavailable when the random source fails, and return no noise then.
// Their running time depends on the noise that they draw.
namespace dpquantile {

// True with probability exp(-gamma), exactly, for any gamma >= 0 (CKS20, Algorithm 1). Throws
// ParameterError if the denominator is 0.
bool bernoulli_exp(RandomStream& random, uint128_t gamma_numerator, uint128_t gamma_denominator);

// A draw from the discrete Laplace distribution with scale s = numerator/denominator (CKS20,
// Algorithm 2): for every integer y,
//
//   P[y] = (1 - e^(-1/s)) / (1 + e^(-1/s)) * e^(-|y|/s).
//
// Throws ParameterError unless 0 < s < 2^56. Nothing is truncated: throws std::overflow_error if
// the draw does not fit in 64 bits, with probability below 2^-184.
//
// Privacy: the draw added to an integer query of sensitivity D is (D/s)-DP.
std::int64_t discrete_laplace(RandomStream& random, Rational scale);

// A draw from the discrete Gaussian distribution with parameter sigma^2 = numerator/denominator:
// P[y] proportional to e^(-y^2 / (2 sigma^2)), y in the integers (CKS20, Algorithm 3). Throws
// ParameterError unless numerator and denominator are positive; sigma is then below 2^32. Throws
// std::overflow_error if the draw does not fit in 64 bits, with probability below 2^-184.
//
// Privacy: the draw added to an integer query of sensitivity D is D^2/(2 sigma^2)-zCDP.
std::int64_t discrete_gaussian(RandomStream& random, Rational sigma_squared);

}  // namespace dpquantile
