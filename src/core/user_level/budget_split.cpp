#include "core/user_level/budget_split.hpp"

#include <cmath>
#include <numbers>

#include "core/privacy/zcdp.hpp"

namespace dpquantile {

double interval_epsilon(const PrivacyParameter& privacy, unsigned parts) {
  const double spent = share_of(privacy, parts).value;
  return privacy.measure == PrivacyMeasure::kPure ? spent : bounded_range_of_rho(spent);
}

double laplace_epsilon(const PrivacyParameter& privacy) {
  if (privacy.measure == PrivacyMeasure::kPure) return privacy.value;
  return std::sqrt(std::numbers::pi * privacy.value);
}

double expected_noise(const PrivacyParameter& privacy) {
  return 1 / laplace_epsilon(privacy);
}

}  // namespace dpquantile
