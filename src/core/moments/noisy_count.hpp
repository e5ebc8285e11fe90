#pragma once

#include <cstdint>

#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// A released number of rows, users or distinct values: the exact number lies within `error` of it
// with a probability of at least 95 %.
struct NoisyCount {
  std::uint64_t count;
  std::uint64_t error;  // public: it depends on the guarantee alone
};

// A number that changes by at most 1 between neighbours, with discrete Laplace or Gaussian noise
// of scale 1 / epsilon or sigma^2 = 1 / (2 rho). Below 0 it becomes 0, which is post-processing and
// moves it closer. Requires exact <= 2^63.
//
// Privacy: epsilon-differentially private or rho-zCDP, by the measure (docs/privacy.md, "Moments").
//
// Throws ParameterError as check_privacy_parameter() does, RandomnessUnavailable, and
// std::overflow_error as the samplers do.
NoisyCount release_count(std::uint64_t exact, const PrivacyParameter& privacy,
                         RandomStream& random);

}  // namespace dpquantile
