#include "core/privacy/privacy_parameter.hpp"

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"

namespace dpquantile {

const char* parameter_name(PrivacyMeasure measure) {
  return measure == PrivacyMeasure::kPure ? "epsilon" : "rho";
}

void check_epsilon(double epsilon) {
  if (epsilon >= kMinEpsilon && epsilon <= kMaxEpsilon) return;
  throw ParameterError(
      "epsilon must be between 1e-06 and 1000, got " + shortest_decimal(epsilon),
      "Typical values lie between 0.01 and 3; smaller is more private. Check the order of the "
      "arguments, too.");
}

void check_rho(double rho) {
  if (rho >= kMinRho && rho <= kMaxRho) return;
  throw ParameterError(
      "rho must be between 1e-12 and 1000, got " + shortest_decimal(rho),
      "A budget with limits epsilon 1 and delta 1e-6 has a rho of 0.024; smaller is more private.");
}

void check_privacy_parameter(const PrivacyParameter& privacy) {
  privacy.measure == PrivacyMeasure::kPure ? check_epsilon(privacy.value)
                                           : check_rho(privacy.value);
}

}  // namespace dpquantile
