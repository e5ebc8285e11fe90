#pragma once

#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/zcdp.hpp"

namespace dpquantile::test {

// A claimed guarantee as (epsilon, delta). For rho it is one of the pairs that follow from rho.
struct Claim {
  double epsilon;
  double delta;
};

inline Claim claim_of(const PrivacyParameter& privacy) {
  if (privacy.measure == PrivacyMeasure::kPure) return {privacy.value, 0};
  constexpr double kDelta = 0.01;
  return {epsilon_of_zcdp(privacy.value, kDelta), kDelta};
}

}  // namespace dpquantile::test
