#pragma once

#include <cstdint>

// Exact binomial statistics: no approximation, so that error rates hold for rare events too.
namespace dpquantile::test {

// Clopper and Pearson's one-sided bounds on a probability of which `successes` in `trials` were
// seen: each is wrong with probability at most `false_alarm`.
double lower_confidence_bound(std::uint64_t successes, std::uint64_t trials, double false_alarm);
double upper_confidence_bound(std::uint64_t successes, std::uint64_t trials, double false_alarm);

// Twice the smaller of the probabilities of at most and of at least so many successes.
double binomial_p_value(std::uint64_t successes, std::uint64_t trials, double probability);

}  // namespace dpquantile::test
