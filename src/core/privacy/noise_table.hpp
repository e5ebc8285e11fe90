#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/int128.hpp"
#include "core/privacy/cell_table.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// Noise of one law for many draws. The laws are exactly those of discrete_laplace() and
// discrete_gaussian() (noise.hpp). A draw takes some nanoseconds, and the table some hundred
// microseconds: it pays from some hundred draws on.
//
// A magnitude is proposed as a cell, drawn from a table, and its low bits, which are uniform. It is
// kept with a probability that makes the law exact and is above 0.9 for nearly all cells
// (docs/privacy.md, "Noise tables"). Nothing is truncated or rounded. The running time depends on
// the noise that is drawn.
class NoiseTable {
 public:
  // Discrete Laplace noise of this scale. Throws ParameterError unless 0 < scale < 2^56,
  // std::bad_alloc.
  static NoiseTable laplace(Rational scale);
  // Discrete Gaussian noise with this sigma^2. Throws ParameterError unless numerator and
  // denominator are positive, std::bad_alloc.
  static NoiseTable gaussian(Rational sigma_squared);
  // The same for a whole sigma^2 that may exceed 64 bits. Throws ParameterError unless
  // 1 <= sigma^2 < 2^110, std::bad_alloc.
  static NoiseTable gaussian(uint128_t sigma_squared);

  // Throws RandomnessUnavailable, std::bad_alloc, and std::overflow_error if the draw does not fit
  // in 64 bits, with a probability below 2^-184.
  //
  // Privacy: that of discrete_laplace() or discrete_gaussian().
  std::int64_t draw(RandomStream& random) const;
  // Fills `noise` with independent draws, each in less time. Throws as draw(), and then `noise` may
  // not be used.
  void draw(std::span<std::int64_t> noise, RandomStream& random) const;

  // The scale or sigma, rounded: public.
  double spread() const { return spread_; }

 private:
  NoiseTable(NoiseShape shape, const Fraction& exponent, unsigned low_bits, double cells,
             double spread);
  static NoiseTable gaussian_of(uint128_t numerator, std::uint64_t denominator);

  std::int64_t draw_from(std::uint64_t word, RandomStream& random) const;
  void draw_from_halves(std::span<const std::uint64_t> words, std::span<std::int64_t> noise,
                        RandomStream& random) const;
  std::int64_t draw_beyond(bool negative, RandomStream& random) const;
  bool keeps(std::uint64_t cell, std::uint64_t low, std::uint64_t coin, RandomStream& random) const;
  std::optional<uint128_t> propose_beyond(RandomStream& random) const;

  CellTable table_;
  // Each cell holds 2^low_bits_ magnitudes.
  unsigned low_bits_;
  unsigned coin_bits_;
  double spread_;
  // A coin of coin_bits_ bits from this bound of the cell on keeps each magnitude of it. Empty
  // without low bits, when all are kept.
  std::vector<std::uint32_t> sure_coins_;
};

}  // namespace dpquantile
