#pragma once

#include <cstdint>
#include <vector>

#include "core/privacy/enclosure.hpp"

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

}  // namespace dpquantile
