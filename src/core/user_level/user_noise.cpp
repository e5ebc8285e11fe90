#include "core/user_level/user_noise.hpp"

#include <algorithm>

#include "core/contributions/fixed_point.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/zcdp.hpp"
#include "core/user_level/budget_split.hpp"

namespace dpquantile {

IntegerQuery with_least_sensitivity(IntegerQuery query) {
  if (query.sensitivity > 0) query.sensitivity = std::max(query.sensitivity, kLeastSensitivity);
  return query;
}

std::uint32_t noisy_statistic(std::uint32_t largest, const IntegerQuery& query,
                              const PrivacyParameter& privacy, std::uint64_t parts,
                              RandomStream& random) {
  const bool pure = privacy.measure == PrivacyMeasure::kPure;
  return integer_mechanism_within(largest, pure ? with_least_sensitivity(query) : query, privacy,
                                  parts, random);
}

double expected_magnitude(double sensitivity, const PrivacyParameter& privacy) {
  if (sensitivity == 0) return 0;
  const std::uint64_t units = privacy.measure == PrivacyMeasure::kPure ? kLeastSensitivity : 1;
  const double least = static_cast<double>(units) / FixedPoint::kOne;
  return std::max(sensitivity, least) * expected_noise(privacy);
}

// A private interval has up to half of epsilon and costs more than Laplace noise if that is above
// 6.9.
PrivacyCost user_cost(const PrivacyParameter& privacy) {
  constexpr double kMostWithInterval = 12;
  const double rho = privacy.value > kMostWithInterval
                         ? rho_of_pure(privacy.value)
                         : rho_of_laplace(privacy.value, static_cast<double>(kLeastSensitivity));
  return cost_with_rho(privacy, rho);
}

}  // namespace dpquantile
