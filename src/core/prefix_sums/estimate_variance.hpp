#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "core/prefix_sums/prefix_factorization.hpp"

namespace dpquantile {

// The variances of the estimates of a PrefixFactorization, for independent noise of variance 1 on
// each of its measurements. They depend on the number of bins only. The factorization and the
// memory must outlive this object.
class EstimateVariance {
 public:
  // O(bins log bins) time, O(bins) memory. Throws std::bad_alloc.
  EstimateVariance(const PrefixFactorization& factorization, std::pmr::memory_resource* memory);

  // The variances of the estimated number of records in the bins 0 .. k, and of that in the bins
  // after them: the last estimate minus estimate k.
  struct Variances {
    double before;
    double after;
  };
  // O(k log bins). Requires k < bins. Throws std::bad_alloc.
  Variances at(std::uint32_t k) const;

 private:
  const PrefixFactorization& factorization_;
  std::pmr::memory_resource* memory_;
  std::pmr::vector<double> last_;  // the weights of the last estimate
};

}  // namespace dpquantile
