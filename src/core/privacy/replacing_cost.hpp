#pragma once

#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"

// What a release costs for replacing the value of one row: the record may change, appear or
// disappear, and nothing else does. Costs are rounded up. Statement and proofs: docs/privacy.md,
// Theorem 28.
namespace dpquantile {

// The costs of a mechanism that is (epsilon, delta)-differentially private, or rho-zCDP, for
// replacing a value as for its own neighbours.
inline ReleaseCosts same_costs(const PrivacyCost& cost) {
  return {cost, cost};
}

// The costs of independent integer noise, Laplace or Gaussian, on a vector of sums to which a
// record adds amounts that are not negative: twice epsilon, and twice rho.
ReleaseCosts vector_noise_costs(const PrivacyCost& cost);

// The cost of noise on integers that move by at most `change` > 0 times their sensitivity if a
// value is replaced, in the norm that the noise is for: `change` times epsilon, or its square times
// rho.
PrivacyCost replacing_cost_of_noise(const PrivacyParameter& privacy, double change);

// The costs of an (epsilon, delta)-differentially private mechanism that is (multiple * epsilon,
// multiple * delta)-differentially private for replacing a value.
ReleaseCosts multiplied_costs(const PrivacyCost& cost, double multiple);

// The costs of a release for each of several groups: the row whose value is replaced may leave one
// group and enter another, if a join or a key depends on the value. So it costs at least twice what
// a row added or removed costs.
ReleaseCosts costs_in_groups(const ReleaseCosts& costs);

// The product, rounded up unless it is exact. Requires a, b >= 0.
double product_above(double a, double b);

}  // namespace dpquantile
