#include "core/quantiles/uniform_quantiles.hpp"

#include <string>

#include "core/base/error.hpp"
#include "core/quantiles/quantiles.hpp"

namespace dpquantile {

void check_synthesis_size(std::int64_t size) {
  if (size >= 1 && size <= static_cast<std::int64_t>(kMaxQuantiles)) return;
  throw ParameterError("size must be between 1 and 4096, got " + std::to_string(size),
                       "It is the number of synthetic values. Check the order of the arguments: "
                       "dp_synthesize(value, size, epsilon, lower, upper).");
}

}  // namespace dpquantile
