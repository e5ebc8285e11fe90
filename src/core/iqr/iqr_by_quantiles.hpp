#pragma once

#include <memory_resource>

#include "core/histogram/histogram.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/quantiles/quantiles.hpp"

namespace dpquantile {

// The interquartile range of values on a value grid: the difference of two private quartiles.
// Method auto of QuantilesMechanism draws them together.
class IqrByQuantiles final : public Mechanism {
 public:
  // Allocates from `memory`. Throws ParameterError (epsilon), std::bad_alloc.
  IqrByQuantiles(const ValueGrid& grid, double epsilon, std::pmr::memory_resource* memory);

  // Releases a multiple of the granularity, from 0 to upper - lower. Empty data get an answer like
  // any other data.
  //
  // Privacy: epsilon-differentially private for adding or removing one record, as post-processing
  // of the quartiles (docs/privacy.md, Theorem 4). Throws what QuantilesMechanism::release throws.
  double release(const Histogram& data, const MechanismContext& context) const;

 private:
  QuantilesMechanism quartiles_;
  ValueGrid differences_;
};

}  // namespace dpquantile
