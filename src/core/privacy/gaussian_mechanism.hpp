#pragma once

#include "core/base/int128.hpp"
#include "core/privacy/integer_query.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

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

}  // namespace dpquantile
