#pragma once

#include <cstdint>
#include <span>

#include "core/exponential/rank.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// The bounded range of each draw of m independent quantiles: epsilon / m, or sqrt(8 rho / m) under
// zCDP.
double independent_epsilon(std::size_t distinct_quantiles, const PrivacyParameter& privacy);

// The least bounded range of each draw. It is a little above kMinDrawEpsilon.
inline constexpr double kMinIndependentEpsilon = 1e-7;

// Draws every quantile by itself, on the whole axis, with the mechanism for one quantile: AppindExp
// of Kaplan, Schnapp and Stemmer 2022. Sorts the answers, so that they ascend. `quantiles` are
// ascending and distinct; `answers` has one cell of the value grid of `cells` cells for each.
//
// Privacy: that of `privacy` for adding or removing one record, for all quantiles together, by
// composition (docs/privacy.md, Theorem 4). Throws what draw_quantile_position throws.
void draw_independently(const SmearedRank& rank, std::uint64_t cells,
                        std::span<const double> quantiles, const PrivacyParameter& privacy,
                        const MechanismContext& context, std::span<std::uint32_t> answers);

}  // namespace dpquantile
