#pragma once

#include <cstdint>

#include "core/base/int128.hpp"
#include "core/privacy/integer_query.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

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

}  // namespace dpquantile
