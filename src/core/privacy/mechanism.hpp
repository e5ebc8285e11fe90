#pragma once

#include <algorithm>
#include <optional>

#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/zcdp.hpp"

namespace dpquantile {

// The cost of one release of a mechanism under its neighbour relation (docs/privacy.md, "zCDP").
struct PrivacyCost {
  std::optional<double> epsilon;  // none for a guarantee stated in rho
  double delta = 0;               // 0 for pure and zCDP mechanisms
  std::optional<double> rho;      // an upper bound; none with a delta
};

// The cost of an (epsilon, delta)-differentially private mechanism.
inline PrivacyCost approximate_cost(double epsilon, double delta) {
  return {epsilon, delta, std::nullopt};
}

// The cost of an epsilon-differentially private mechanism.
inline PrivacyCost pure_cost(double epsilon) {
  return {epsilon, 0, rho_of_pure(epsilon)};
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

// A prepared mechanism: its public parameters are checked, its plan is made and its costs are known
// before it sees data. Mechanisms with a plan derive from this class and draw releases.
class Mechanism {
 public:
  explicit Mechanism(const ReleaseCosts& costs) : costs_(costs) {}
  virtual ~Mechanism() = default;
  Mechanism(const Mechanism&) = delete;
  Mechanism& operator=(const Mechanism&) = delete;

  const ReleaseCosts& costs() const { return costs_; }
  const PrivacyCost& cost() const { return costs_.own; }

 private:
  ReleaseCosts costs_;
};

}  // namespace dpquantile
