#include "support/quantile_limit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "support/chain_limit.hpp"
#include "support/prefix_sum_limit.hpp"

namespace dpquantile::test {

namespace {

// The largest probability of an event that has `probability` on a data set so many rows away.
double most_probable(double probability, std::uint64_t rows, const PrivacyParameter& privacy) {
  if (privacy.measure == PrivacyMeasure::kZcdp) {
    const double missing =
        std::sqrt(-std::log(probability)) - static_cast<double>(rows) * std::sqrt(privacy.value);
    return missing > 0 ? std::exp(-missing * missing) : 1;
  }
  const double growth = std::exp(privacy.value);
  for (; rows > 0; --rows) {
    probability = std::min(growth * probability, 1 - (1 - probability) / growth);
  }
  return probability;
}

}  // namespace

HardQuantileLimit hard_quantile_limit(double cells, std::uint64_t most_filling,
                                      const PrivacyParameter& privacy) {
  if (!(cells >= 2)) throw std::invalid_argument("there must be several cells");
  HardQuantileLimit limit{0, 2};
  for (std::uint64_t filling = 2; filling <= most_filling; filling += 2) {
    const double missed = 1 - most_probable(1 / cells, filling, privacy);
    const double error = static_cast<double>(filling) / 2 * missed;
    if (error > limit.error) limit = {error, filling};
  }
  return limit;
}

// The nuclear norm is that of the square root of a Brownian bridge's covariance matrix.
double spread_quantiles_limit(int m, const PrivacyParameter& privacy) {
  double norm = 0;
  for (int k = 1; k <= m; ++k) norm += 1 / (2 * std::sin(std::numbers::pi * k / (2 * (m + 1))));
  const double divergence = privacy.measure == PrivacyMeasure::kPure
                                ? chi_square_of_epsilon(privacy.value)
                                : chi_square_of_rho(privacy.value);
  return norm / std::sqrt(static_cast<double>(m) * (m + 1) * divergence);
}

// A row at the lower end moves the answer down by 1 - q ranks of the rows that were there, one at
// the upper end moves it up by q.
double spread_quantile_limit(double q, int most_added, double epsilon) {
  double best = 0;
  for (const int below : {0, most_added}) {
    for (const int above : {0, most_added}) {
      std::vector<double> answers;
      for (int k = below; k > 0; --k) answers.push_back(-(1 - q) * k);
      for (int k = 0; k <= above; ++k) answers.push_back(q * k);
      best = std::max(best, chain_limit(answers, epsilon));
    }
  }
  return best;
}

}  // namespace dpquantile::test
