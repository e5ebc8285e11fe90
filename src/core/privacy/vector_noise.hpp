#pragma once

#include <cstdint>

#include "core/base/int128.hpp"
#include "core/privacy/noise_table.hpp"

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

  uint128_t variance() const { return variance_; }

  // For the draws. Throws std::bad_alloc.
  NoiseTable table() const { return NoiseTable::gaussian(variance_); }

 private:
  uint128_t variance_;
};

}  // namespace dpquantile
