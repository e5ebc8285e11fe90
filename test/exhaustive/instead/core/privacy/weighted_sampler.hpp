#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/base/int128.hpp"
#include "core/base/partition_point.hpp"
#include "core/privacy/random.hpp"
#include "exhaustive/draws.hpp"

// In place of src/core/privacy/weighted_sampler.hpp: samplers of the same interface, with exactly
// the law that is declared there. noise_laws.cpp looks at the real ones.
namespace dpquantile {

class WeightedSampler {
 public:
  explicit WeightedSampler(RandomStream& random)
      : chosen_(exhaustive::draws().begin_scan(random.site())) {}

  bool takes(double weight) {
    ++visited_;
    const double chance = std::min(weight / left_, 1.0);
    const double chances[] = {1 - chance, chance};
    left_ -= weight;
    const bool taken = chosen_ > 0 ? visited_ == chosen_ : exhaustive::draws().outcome(chances, 0);
    if (taken) exhaustive::draws().took(visited_);
    return taken;
  }

 private:
  std::size_t chosen_;  // 0: as coins say
  std::size_t visited_ = 0;
  double left_ = 1;  // of the probability; with that of no item the caller tries again
};

template <class Before, class Weight>
std::size_t draw_weighted_index(std::size_t count, Before before, Weight weight, double total,
                                RandomStream&) {
  static const char here = 0;  // one for each place that draws
  std::vector<double> chances(count);
  const double all = before(count) - before(0);
  for (std::size_t k = 0; k < count; ++k) {
    const double own = before(k + 1) - before(k);
    if (std::abs(own - weight(k)) > 0x1p-30 * total || std::abs(all - total) > 0x1p-30 * total) {
      throw std::logic_error("the sums of weights are not their sums");
    }
    chances[k] = own / all;
  }
  return exhaustive::draws().outcome(chances, reinterpret_cast<std::uintptr_t>(&here));
}

}  // namespace dpquantile
