#include "core/privacy/confidence.hpp"

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"

namespace dpquantile {

void check_confidence(double confidence) {
  if (confidence >= kMinConfidence && confidence <= kMaxConfidence) return;
  throw ParameterError("confidence must be from 0.5 to 0.999, got " + shortest_decimal(confidence),
                       "It is the probability with which the error or band holds; 0.95 is usual.");
}

}  // namespace dpquantile
