#pragma once

#include <cmath>

#include "core/base/int128.hpp"
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

  // Whether the draw falls on the item of this weight, 0 to about 1. Visit each item at most once,
  // and none after the one that is taken.
  bool takes(double weight) {
    passed_ += static_cast<uint128_t>(std::ldexp(weight, kBits));
    return drawn_ < passed_;
  }

 private:
  // The sampler allows for weights that sum to more than 1 by less than 2^-20.
  static constexpr int kBits = 120;

  uint128_t drawn_;
  uint128_t passed_ = 0;
};

}  // namespace dpquantile
