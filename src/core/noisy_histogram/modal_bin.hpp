#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/privacy/mechanism.hpp"

namespace dpquantile {

// The index of the bin that has the most records, or nearly as many: the first largest, in a random
// order, of all counts with noise j >= 0 of a probability proportional to exp(-epsilon j). That is
// the law of permute-and-flip (McKenna, Sheldon 2020; Ding et al. 2021), sampled exactly. Of k bins
// the one that is taken lacks more than (ln k + t) / epsilon records with a probability of at most
// exp(-t). Without records each bin is as likely as any other. `counts` holds the number of records
// in each bin, of which there are at most 2^62 in all.
//
// Privacy: epsilon-differentially private for adding or removing one record, which is in at most
// one bin: a count never falls when a record is added, so the exponent has no factor 1/2
// (docs/privacy.md, "The fullest bin", Theorem 25m).
//
// Requires at least one bin. Throws ParameterError as check_epsilon() does, RandomnessUnavailable,
// Cancelled, std::bad_alloc, and std::overflow_error as discrete_laplace() does. What is drawn, and
// how long that takes, does not depend on the counts. O(bins) memory and time.
std::size_t draw_modal_bin(std::span<const std::uint64_t> counts, double epsilon,
                           const MechanismContext& context);

// What a draw costs: epsilon for its own neighbours, and twice that for replacing the value of one
// record, which is removed from one bin and added to another.
ReleaseCosts modal_bin_costs(double epsilon);

}  // namespace dpquantile
