#pragma once

#include <cstdint>

#include "core/privacy/integer_query.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// The answer of laplace_mechanism() or gaussian_mechanism(), by the measure of the guarantee, for
// one of `parts` queries that share it, clamped to 0 .. largest. Clamping is post-processing and
// has no privacy implication.
//
// Privacy: (epsilon / parts)-differentially private, or (rho / parts)-zCDP.
//
// Throws what the two mechanisms throw. Requires parts >= 1.
std::uint32_t integer_mechanism_within(std::uint32_t largest, const IntegerQuery& query,
                                       const PrivacyParameter& privacy, std::uint64_t parts,
                                       RandomStream& random);

}  // namespace dpquantile
