#include "core/user_level/user_noise.hpp"

#include <algorithm>

#include "core/privacy/integer_mechanism.hpp"
#include "core/privacy/zcdp.hpp"

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
