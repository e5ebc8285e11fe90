#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/privacy/enclosure.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// The two shapes of noise: e^-(rate x) and e^-(rate x^2) of the magnitude x.
enum class NoiseShape { kLaplace, kGaussian };

// The law of the cell from which a NoiseTable proposes a magnitude: for g(h) = rate * h (Laplace)
// or rate * h^2 (Gaussian),
//
//   P[h] is proportional to e^-g(h)                                 for h < cells,
//   P[a cell beyond] is proportional to e^-g(cells) / (1 - e^-tail_rate()).
//
// The cells from `cells` on have together the weight of a geometric law that lies above e^-g(h).
// If cell 0 is halved, it has the weight 1/2 instead of 1.
struct CellLaw {
  NoiseShape shape;
  Fraction rate;        // above 0
  std::uint32_t cells;  // at least 1
  bool halves_zero;

  // g(h) - g(cells) >= tail_rate * (h - cells) for h >= cells, with equality for Laplace noise.
  Fraction tail_rate() const {
    if (shape == NoiseShape::kLaplace) return rate;
    return {rate.numerator * 2 * cells, rate.denominator};
  }

  // Bounds of P[cell <= h] for h = 0 .. cells - 1, in multiples of 2^-bits.
  template <class Integer>
  std::vector<Enclosure<Integer>> cumulative(unsigned bits) const {
    const EnclosureArithmetic<Integer> real(bits);
    // The weight of a cell is the one before times `step`; `step` changes by e^-(2 rate) if g is a
    // square.
    const Enclosure<Integer> first_step = real.exp_minus(rate);
    const Enclosure<Integer> change = real.product(first_step, first_step);
    Enclosure<Integer> step = first_step;
    Enclosure<Integer> weight = real.one();
    Enclosure<Integer> total{Integer(0), Integer(0)};
    std::vector<Enclosure<Integer>> sums;
    sums.reserve(cells);
    for (std::uint32_t h = 0; h < cells; ++h) {
      total = real.sum(total, h == 0 && halves_zero ? real.half() : weight);
      sums.push_back(total);
      weight = real.product(weight, step);
      if (shape == NoiseShape::kGaussian) step = real.product(step, change);
    }
    const auto tail = real.difference(real.one(), real.exp_minus(tail_rate()));
    total = real.sum(total, real.ratio(weight, tail));
    const auto inverse = real.ratio(real.one(), total);
    for (auto& sum : sums) sum = real.product(sum, inverse);
    return sums;
  }
};

// Draws from a CellLaw by inversion, exactly: cell h where P[cell < h] <= U < P[cell <= h] for a
// uniform real U. The first 63 bits of U decide except with a probability below cells * 2^-61. Then
// more bits of U are drawn, and the probabilities are computed to more bits, until they do
// (docs/privacy.md, "Noise tables").
class CellTable {
 public:
  static constexpr unsigned kWordBits = 63;
  static constexpr unsigned kHalfBits = 31;

  // Takes some 0.2 microseconds a cell. Requires at most 2^12 cells. Throws std::bad_alloc.
  explicit CellTable(const CellLaw& law);

  // `word` holds the first 63 bits of U. Returns law.cells for a cell beyond. Throws
  // RandomnessUnavailable, and std::bad_alloc if the word does not decide.
  std::uint32_t draw(std::uint64_t word, RandomStream& random) const {
    std::uint32_t cell = guide_[static_cast<std::size_t>(word >> (kWordBits - kGuideBits))];
    // Few parts of the guide hold more than two cells. The first step needs no branch.
    cell += static_cast<std::uint32_t>(word >= bounds_[cell + 1]);
    while (word >= bounds_[cell + 1]) ++cell;
    if (word >= bounds_[cell] + kUndecided) [[likely]]
      return cell;
    return draw_more(word, random);
  }

  // The same for the first 31 bits of U, which decide except with a probability below
  // cells * 2^-29. Then 32 more are drawn, which may throw RandomnessUnavailable.
  std::uint32_t draw_from_half(std::uint32_t half, RandomStream& random) const {
    std::uint32_t cell = guide_[half >> (kHalfBits - kGuideBits)];
    cell += static_cast<std::uint32_t>(half >= half_bounds_[cell + 1]);
    while (half >= half_bounds_[cell + 1]) ++cell;
    if (half >= half_bounds_[cell] + kUndecided) [[likely]]
      return cell;
    return draw_with_half(half, random);
  }

  // The number of words from bounds()[h] on, in ascending order, that may not decide between the
  // cells before h and those from h on.
  static constexpr std::uint64_t kUndecided = 2;
  // bounds()[h] / 2^63 <= P[cell < h] < (bounds()[h] + kUndecided) / 2^63 for h = 0 .. law.cells.
  std::span<const std::uint64_t> bounds() const {
    return std::span(bounds_).first(bounds_.size() - 2);
  }
  const CellLaw& law() const { return law_; }

 private:
  static constexpr unsigned kGuideBits = 10;

  std::uint32_t draw_with_half(std::uint32_t half, RandomStream& random) const;
  std::uint32_t draw_more(std::uint64_t word, RandomStream& random) const;

  CellLaw law_;
  std::vector<std::uint64_t> bounds_;                 // then 2^63 twice, above every word
  std::vector<std::uint32_t> half_bounds_;            // their first 31 bits
  std::array<std::uint16_t, 1 << kGuideBits> guide_;  // the cell of the first word of each part
};

}  // namespace dpquantile
