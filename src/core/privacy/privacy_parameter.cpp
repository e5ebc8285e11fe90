#include "core/privacy/privacy_parameter.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"

namespace dpquantile {

double stated_amount(double given) {
  if (!(std::abs(given) <= std::numeric_limits<float>::max())) return given;
  const auto single = static_cast<float>(given);
  if (static_cast<double>(single) != given) return given;
  std::array<char, 32> decimal;
  char* const end = std::to_chars(decimal.data(), decimal.data() + decimal.size(), single).ptr;
  double stated = given;
  std::from_chars(decimal.data(), end, stated);
  return stated;
}

const char* parameter_name(PrivacyMeasure measure) {
  return measure == PrivacyMeasure::kPure ? "epsilon" : "rho";
}

void check_epsilon(double epsilon) {
  if (epsilon >= kMinEpsilon && epsilon <= kMaxEpsilon) return;
  throw ParameterError(Argument::kEpsilon,
                       "epsilon must be between 1e-06 and 1000, got " + shortest_decimal(epsilon),
                       "Typical values lie between 0.01 and 3; smaller is more private.");
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

void check_confidence(double confidence) {
  if (confidence >= kMinConfidence && confidence <= kMaxConfidence) return;
  throw ParameterError("confidence must be from 0.5 to 0.999, got " + shortest_decimal(confidence),
                       "It is the probability with which the error or band holds; 0.95 is usual.");
}

}  // namespace dpquantile
