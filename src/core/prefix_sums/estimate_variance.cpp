#include "core/prefix_sums/estimate_variance.hpp"

#include <cstddef>

namespace dpquantile {

EstimateVariance::EstimateVariance(const PrefixFactorization& factorization,
                                   std::pmr::memory_resource* memory)
    : factorization_(factorization),
      memory_(memory),
      last_(factorization.estimate_weights(factorization.bins() - 1, memory)) {}

EstimateVariance::Variances EstimateVariance::at(std::uint32_t k) const {
  const auto weights = factorization_.estimate_weights(k, memory_);
  Variances variances{0, 0};
  for (std::size_t i = 0; i < last_.size(); ++i) {
    const double weight = i < weights.size() ? weights[i] : 0;
    variances.before += weight * weight;
    variances.after += (last_[i] - weight) * (last_[i] - weight);
  }
  return variances;
}

}  // namespace dpquantile
