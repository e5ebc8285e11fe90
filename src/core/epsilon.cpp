#include "core/epsilon.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

namespace dpquantile {

void check_epsilon(double epsilon) {
  if (epsilon >= kMinEpsilon && epsilon <= kMaxEpsilon) return;
  throw ParameterError(
      "epsilon must be between 1e-06 and 1000, got " + shortest_decimal(epsilon),
      "Typical values lie between 0.01 and 3; smaller is more private. Check the order of the "
      "arguments, too.");
}

}  // namespace dpquantile
