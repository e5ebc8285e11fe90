#pragma once

#include <cstdint>

#include "core/privacy/integer_noise.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

// The noise of the user-level statistics that are one integer, and what they cost.
namespace dpquantile {

// No query of the user-level mechanisms gets the Laplace noise of a smaller sensitivity, in
// FixedPoint units, unless nobody moves it. Noise of many steps costs as little zCDP as real
// Laplace noise.
inline constexpr std::uint64_t kLeastSensitivity = 256;

// The query with a sensitivity of 0 or at least kLeastSensitivity.
IntegerQuery with_least_sensitivity(IntegerQuery query);

// A statistic with noise for one of `parts` that share the guarantee, clamped to 0 .. largest:
// Laplace noise for with_least_sensitivity() under epsilon, Gaussian noise under rho.
//
// Privacy: (epsilon / parts)-differentially private, or (rho / parts)-zCDP. Throws what
// integer_mechanism_within() throws.
std::uint32_t noisy_statistic(std::uint32_t largest, const IntegerQuery& query,
                              const PrivacyParameter& privacy, std::uint64_t parts,
                              RandomStream& random);

// The expected magnitude of this noise, in the units of `sensitivity`, which are those of the
// statistic and not FixedPoint units. `privacy` is the part of the guarantee. For errors, not for
// noise.
double expected_magnitude(double sensitivity, const PrivacyParameter& privacy);

// The cost of a user-level mechanism with this guarantee, by any method (docs/privacy.md, Theorem
// Z5).
PrivacyCost user_cost(const PrivacyParameter& privacy);

}  // namespace dpquantile
