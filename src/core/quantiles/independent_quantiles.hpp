#pragma once

#include <cstdint>
#include <span>

#include "core/exponential/rank.hpp"
#include "core/privacy/mechanism_context.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// The bounded range with which each of several independent quantiles is drawn: epsilon / m, or
// sqrt(8 rho / m) under zCDP.
double independent_epsilon(std::size_t distinct_quantiles, const PrivacyParameter& privacy);

// Every quantile by itself: AppindExp of Kaplan, Schnapp and Stemmer 2022, each by the mechanism
// for one quantile on all of the axis, sorted. Fills `answers` with a cell for each of the
// ascending, distinct quantiles.
//
// Privacy: that of `privacy`, by composition. Throws like draw_quantile_position.
void draw_independently(const SmearedRank& rank, std::uint64_t cells,
                        std::span<const double> quantiles, const PrivacyParameter& privacy,
                        const MechanismContext& context, std::span<std::uint32_t> answers);

}  // namespace dpquantile
