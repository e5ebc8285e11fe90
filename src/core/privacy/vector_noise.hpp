#pragma once

#include <cstdint>

#include "core/base/int128.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// Gaussian noise for a vector of integer queries that are measured in small units, so that their
// sensitivity is large: the discrete Gaussian of sigma^2 = sensitivity^2 / (2 rho), rounded up to a
// whole number, by a relative 2^-40 at least. Takes every rho that check_rho() accepts.
//
// Privacy: independent draws, one added to each coordinate of the vector, make it rho-zCDP if its
// l2 sensitivity is at most `sensitivity` (docs/privacy.md, "Noise samplers").
class VectorNoise {
 public:
  // Throws ParameterError as check_rho() does, and std::invalid_argument unless
  // 1 <= sensitivity <= 2^24.
  VectorNoise(double rho, std::uint64_t sensitivity);

  // Throws RandomnessUnavailable, and std::overflow_error as the sampler does.
  std::int64_t draw(RandomStream& random) const;

  uint128_t variance() const { return variance_; }

 private:
  uint128_t variance_;
};

}  // namespace dpquantile
