#pragma once

#include <cstdint>

namespace dpquantile {

// The definition of privacy that a release's guarantee is stated in.
enum class PrivacyMeasure : std::uint8_t {
  kPure = 1,  // epsilon-differential privacy
  kZcdp = 2,  // rho-zero-concentrated differential privacy (Bun, Steinke 2016)
};

// The guarantee of a release: epsilon or rho, by the measure.
struct PrivacyParameter {
  PrivacyMeasure measure;
  double value;

  bool operator==(const PrivacyParameter&) const = default;
};

inline PrivacyParameter pure(double epsilon) {
  return {PrivacyMeasure::kPure, epsilon};
}
inline PrivacyParameter zcdp(double rho) {
  return {PrivacyMeasure::kZcdp, rho};
}

// The epsilon, delta or rho that a caller states with this double. A double that is exactly a float
// stands for the shortest decimal of the float: 0.1f is 0.10000000149011612 as a double, and states
// 0.1. Any other double states itself.
//
// Privacy: the result may be larger or smaller than the double, by a relative 2^-24. Call it before
// anything else, so that the mechanism and the charge use the same amount (docs/privacy.md, "What
// is charged").
double stated_amount(double given);

// "epsilon" or "rho", the parameter of a guarantee in this measure.
const char* parameter_name(PrivacyMeasure measure);

inline constexpr double kMinEpsilon = 1e-6;
inline constexpr double kMaxEpsilon = 1000;
inline constexpr double kMinRho = 1e-12;
inline constexpr double kMaxRho = 1000;

// Throws ParameterError unless kMinEpsilon <= epsilon <= kMaxEpsilon.
void check_epsilon(double epsilon);
// Throws ParameterError unless kMinRho <= rho <= kMaxRho.
void check_rho(double rho);
// check_epsilon() or check_rho(), by the measure.
void check_privacy_parameter(const PrivacyParameter& privacy);

inline constexpr double kMinConfidence = 0.5;
inline constexpr double kMaxConfidence = 0.999;

// Throws ParameterError unless kMinConfidence <= confidence <= kMaxConfidence: the probability with
// which a stated error or band holds.
void check_confidence(double confidence);

}  // namespace dpquantile
