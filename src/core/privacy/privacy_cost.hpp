#pragma once

#include <algorithm>
#include <optional>

#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/zcdp.hpp"

// What a release costs, under the neighbour relation of its mechanism and for replacing the value
// of one row: then the record may change, appear or disappear, and nothing else does. Costs are
// rounded up. Statements and proofs: docs/privacy.md, "zCDP" and Theorem 28.
namespace dpquantile {

// The cost of one release of a mechanism under its neighbour relation (docs/privacy.md, "zCDP").
struct PrivacyCost {
  std::optional<double> epsilon;  // none for a guarantee stated in rho
  double delta = 0;               // 0 for pure and zCDP mechanisms
  std::optional<double> rho;      // an upper bound: delta-approximate rho-zCDP
};

// The cost of an (epsilon, delta)-differentially private mechanism that is known to be
// delta-approximately `rho`-zCDP, or of which nothing else is known (Lemma Z8).
inline PrivacyCost approximate_cost(double epsilon, double delta, double rho) {
  return {epsilon, delta, std::min(rho, rho_of_pure(epsilon))};
}
inline PrivacyCost approximate_cost(double epsilon, double delta) {
  return {epsilon, delta, rho_of_pure(epsilon)};
}

// The cost of an epsilon-differentially private mechanism.
inline PrivacyCost pure_cost(double epsilon) {
  return approximate_cost(epsilon, 0);
}

// The cost of a mechanism with the guarantee `privacy`. If the guarantee is an epsilon, the
// mechanism must also be `rho`-zCDP, and the cost has the smaller of `rho` and
// rho_of_pure(epsilon). For a very large epsilon rho_of_pure(epsilon) is the smaller one. If the
// guarantee is a rho, it is the cost.
inline PrivacyCost cost_with_rho(const PrivacyParameter& privacy, double rho) {
  if (privacy.measure == PrivacyMeasure::kZcdp) return {std::nullopt, 0, privacy.value};
  return {privacy.value, 0, std::min(rho, rho_of_pure(privacy.value))};
}

// What one release costs, under the relations that a budget may have. All are public.
struct ReleaseCosts {
  PrivacyCost own;        // under the neighbour relation of the mechanism
  PrivacyCost replacing;  // for replacing the value of one row (docs/privacy.md, Theorem 28)
};

// The terms by which a budget counts what a release costs. They are public. The default is a budget
// in epsilon under the neighbour relation of each mechanism.
struct BudgetTerms {
  bool in_rho = false;    // accountant zcdp
  bool replaces = false;  // for replacing the value of one row

  bool operator==(const BudgetTerms&) const = default;
};

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

// The costs of a mechanism of several equal and independent parts, of which replacing a value
// changes `multiple` times as many as adding or removing a row: epsilon, delta and rho times that.
ReleaseCosts multiplied_costs(const PrivacyCost& cost, double multiple);

// The costs of a release for each of several groups: the row whose value is replaced may leave one
// group and enter another, if a join or a key depends on the value. So it costs at least twice what
// a row added or removed costs.
ReleaseCosts costs_in_groups(const ReleaseCosts& costs);

// The product, rounded up unless it is exact. Requires a, b >= 0.
double product_above(double a, double b);

}  // namespace dpquantile
