#include "core/privacy/privacy_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dpquantile {

double product_above(double a, double b) {
  const double product = a * b;
  if (std::fma(a, b, -product) <= 0) return product;
  return std::nextafter(product, std::numeric_limits<double>::infinity());
}

ReleaseCosts vector_noise_costs(const PrivacyCost& cost) {
  PrivacyCost replacing = cost;
  if (cost.epsilon) replacing.epsilon = 2 * *cost.epsilon;
  if (cost.rho) replacing.rho = 2 * *cost.rho;
  return {cost, replacing};
}

ReleaseCosts costs_in_groups(const ReleaseCosts& costs) {
  ReleaseCosts in_groups = costs;
  PrivacyCost& replacing = in_groups.replacing;
  if (replacing.epsilon) {
    replacing.epsilon = std::max(*replacing.epsilon, 2 * costs.own.epsilon.value_or(0));
  }
  replacing.delta = std::max(replacing.delta, 2 * costs.own.delta);
  if (replacing.rho) replacing.rho = std::max(*replacing.rho, 2 * costs.own.rho.value_or(0));
  return in_groups;
}

PrivacyCost replacing_cost_of_noise(const PrivacyParameter& privacy, double change) {
  if (privacy.measure == PrivacyMeasure::kPure) {
    return pure_cost(product_above(privacy.value, change));
  }
  return {std::nullopt, 0, product_above(product_above(privacy.value, change), change)};
}

ReleaseCosts multiplied_costs(const PrivacyCost& cost, double multiple) {
  return {cost, approximate_cost(product_above(*cost.epsilon, multiple),
                                 product_above(cost.delta, multiple),
                                 product_above(*cost.rho, multiple))};
}

}  // namespace dpquantile
