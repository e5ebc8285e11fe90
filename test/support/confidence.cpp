#include "support/confidence.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cstdint>

namespace dpquantile::test {
namespace {

// P[X >= successes] for a binomial X.
double at_least(std::uint64_t successes, std::uint64_t trials, double probability) {
  if (successes == 0) return 1;
  return boost::math::ibeta(static_cast<double>(successes),
                            static_cast<double>(trials - successes + 1), probability);
}

// P[X <= successes].
double at_most(std::uint64_t successes, std::uint64_t trials, double probability) {
  if (successes == trials) return 1;
  return boost::math::ibetac(static_cast<double>(successes + 1),
                             static_cast<double>(trials - successes), probability);
}

}  // namespace

double lower_confidence_bound(std::uint64_t successes, std::uint64_t trials, double false_alarm) {
  if (successes == 0) return 0;
  return boost::math::ibeta_inv(static_cast<double>(successes),
                                static_cast<double>(trials - successes + 1), false_alarm);
}

double upper_confidence_bound(std::uint64_t successes, std::uint64_t trials, double false_alarm) {
  if (successes == trials) return 1;
  return boost::math::ibetac_inv(static_cast<double>(successes + 1),
                                 static_cast<double>(trials - successes), false_alarm);
}

double binomial_p_value(std::uint64_t successes, std::uint64_t trials, double probability) {
  if (probability <= 0) return successes == 0 ? 1 : 0;
  if (probability >= 1) return successes == trials ? 1 : 0;
  const double tail =
      std::min(at_least(successes, trials, probability), at_most(successes, trials, probability));
  return std::min(1.0, 2 * tail);
}

}  // namespace dpquantile::test
