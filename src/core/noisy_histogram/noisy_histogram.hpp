#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// Releases the number of records in each bin, with independent discrete Laplace noise of scale
// 1 / epsilon or discrete Gaussian noise of sigma^2 = 1 / (2 rho). Counts below 0 become 0, which
// is post-processing and moves them closer; where many bins are empty it makes the sum of the
// counts too large on average. `counts` holds the number of records in each bin, of which there are
// at most 2^62 in all.
//
// Privacy: epsilon-differentially private or rho-zCDP, by the measure, for adding or removing one
// record: a record is in at most one bin (docs/privacy.md, "Histograms").
//
// Throws ParameterError as check_privacy_parameter() does, RandomnessUnavailable, Cancelled,
// std::bad_alloc, and std::overflow_error as the samplers do. O(bins) memory and time, apart from
// the noise.
std::pmr::vector<std::int64_t> release_histogram(std::span<const std::uint64_t> counts,
                                                 const PrivacyParameter& privacy,
                                                 const MechanismContext& context);

// Each released count lies within this of the exact one with a probability of at least
// `confidence`: for one bin, not for all at once. Public. Throws ParameterError as
// check_privacy_parameter() and check_confidence() do.
std::uint64_t histogram_error(const PrivacyParameter& privacy, double confidence);

}  // namespace dpquantile
