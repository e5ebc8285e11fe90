#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/int128.hpp"
#include "core/base/partition_point.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// Draws one of several items exactly, with probabilities proportional to their weights. The caller
// visits the items one after the other, in any order. The weights sum to at most 1, except for
// rounding, and are cut to multiples of 2^-120. If no item was taken after all have been visited,
// the caller starts again with a new sampler.
class WeightedSampler {
 public:
  // Throws RandomnessUnavailable.
  explicit WeightedSampler(RandomStream& random)
      : drawn_(random.uniform_below_128((uint128_t{1} << kBits) + (uint128_t{1} << (kBits - 20)))) {
  }

  // With a point of 128 bits, drawn evenly. Points that it is rounded to are at most a unit apart.
  static WeightedSampler at(uint128_t point) {
    return WeightedSampler((point >> (128 - kBits)) + (point >> (148 - kBits)));
  }

  // Whether the draw falls on the item of this weight, 0 to about 1. Visit each item at most once,
  // and none after the one that is taken.
  bool takes(double weight) {
    passed_ += static_cast<uint128_t>(weight * kUnits);
    return drawn_ < passed_;
  }

 private:
  explicit WeightedSampler(uint128_t drawn) : drawn_(drawn) {}

  // The sampler allows for weights that sum to more than 1 by less than 2^-20.
  static constexpr int kBits = 120;
  static constexpr double kUnits = 0x1p120;

  uint128_t drawn_;
  uint128_t passed_ = 0;
};

// Draws the index of one of `count` items with the law of WeightedSampler, in logarithmic time.
// before(k) is about the weight of the items before item k, and does not fall; weight(k) is that of
// item k. `total` is about the weight of all items. Draws 64 bits and compares sums in doubles;
// only where rounding could change the index it draws more and visits the items one after the
// other. Throws RandomnessUnavailable.
template <class Before, class Weight>
std::size_t draw_weighted_index(std::size_t count, Before before, Weight weight, double total,
                                RandomStream& random) {
  // Far above the rounding errors of sums of fewer than 2^20 items, and the cuts of their weights.
  const double doubt = 0x1p-30 * total;
  for (;;) {
    const std::uint64_t high = random.bits64();
    const double point = static_cast<double>(high) * 0x1p-64 * (1 + 0x1p-20) * total;
    const std::size_t found =
        partition_point(count, [&](std::size_t k) { return before(k + 1) > point; });
    if (found < count && before(found + 1) > point + doubt &&
        (found == 0 || before(found) < point - doubt)) {
      return found;
    }
    WeightedSampler scan = WeightedSampler::at(uint128_t{high} << 64 | random.bits64());
    for (std::size_t k = 0; k < count; ++k) {
      if (scan.takes(weight(k) / total)) return k;
    }
  }
}

}  // namespace dpquantile
