#pragma once

#include <cstdint>

#include "core/base/int128.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// An exact integer answer and by how much it can differ at most between neighbours. The sensitivity
// is public, the answer is not.
struct IntegerQuery {
  std::uint64_t answer;       // at most 2^63
  std::uint64_t sensitivity;  // at most 2^34
};

// The scale of discrete Laplace noise for one of `parts` queries that share epsilon: sensitivity *
// parts / epsilon, larger by a relative 2^-40 to 2^-20. The least of it pays for charging the
// shortest decimal of epsilon, which may be below the double by a relative 2^-53. Requires a
// sensitivity and parts of at least 1, their product at most 2^58.
Rational laplace_scale(std::uint64_t sensitivity, Rational epsilon, std::uint64_t parts);

// The answer with discrete Laplace noise. A query of sensitivity 0 is a public constant, and gets
// none.
//
// Privacy: (epsilon / parts)-differentially private. Throws ParameterError if the noise would have
// a scale of 2^56 or more (epsilon / parts below 2^-22 for the largest sensitivity),
// RandomnessUnavailable.
int128_t laplace_mechanism(const IntegerQuery& query, Rational epsilon, std::uint64_t parts,
                           RandomStream& random);

// The same, clamped to 0 .. largest: post-processing, no privacy implication.
std::uint32_t laplace_mechanism_within(std::uint32_t largest, const IntegerQuery& query,
                                       Rational epsilon, std::uint64_t parts, RandomStream& random);

}  // namespace dpquantile
