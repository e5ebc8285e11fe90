#pragma once

#include "core/privacy/privacy_parameter.hpp"

// How a budget is divided between a private interval and the mean of what is clipped to it. The
// division depends on public figures only: docs/privacy.md, "Private intervals".
namespace dpquantile {

// Budgets are divided into this many equal parts.
inline constexpr unsigned kBudgetParts = 32;

// The most parts that an interval gets.
inline constexpr unsigned kMostIntervalParts = kBudgetParts / 2;

// So many parts of a budget.
inline PrivacyParameter share_of(const PrivacyParameter& privacy, unsigned parts) {
  return {privacy.measure, privacy.value * parts / kBudgetParts};
}

// The epsilon' of an exponential mechanism that may spend so many parts of a budget. It is
// epsilon'-bounded-range, so that it costs epsilon' under pure differential privacy and
// epsilon'^2 / 8 under zCDP.
double interval_epsilon(const PrivacyParameter& privacy, unsigned parts);

// The epsilon whose Laplace noise has the same expected magnitude as the noise of this guarantee:
// epsilon itself, or sqrt(pi rho). For errors, not for noise.
double laplace_epsilon(const PrivacyParameter& privacy);

// The expected magnitude of noise for a query of sensitivity 1: 1 / epsilon for Laplace noise,
// 1 / sqrt(pi rho) for Gaussian noise.
double expected_noise(const PrivacyParameter& privacy);

}  // namespace dpquantile
