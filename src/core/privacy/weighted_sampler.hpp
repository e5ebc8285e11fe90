#pragma once

#include <cmath>

#include "core/base/int128.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// One exact draw among items that are visited one after the other, in any order, with probabilities
// proportional to weights that sum to at most 1 (but for rounding). Weights count in whole
// multiples of 2^-120. If no item was taken when all have been visited, start again.
class WeightedSampler {
 public:
  explicit WeightedSampler(RandomStream& random)
      : drawn_(random.uniform_below_128((uint128_t{1} << kBits) + (uint128_t{1} << (kBits - 20)))) {
  }

  // Whether the item with this weight, 0 to about 1, is the one drawn. Each item may be visited
  // once.
  bool takes(double weight) {
    passed_ += static_cast<uint128_t>(std::ldexp(weight, kBits));
    return drawn_ < passed_;
  }

 private:
  // The sum of the weights exceeds 1 by less than 2^-20.
  static constexpr int kBits = 120;

  uint128_t drawn_;
  uint128_t passed_ = 0;
};

}  // namespace dpquantile
