#pragma once

#include <cstdint>

// Exact binomial statistics. Without an approximation the error rates hold for rare events, too.
namespace dpquantile::test {

// Clopper and Pearson's one-sided bounds on the probability of a success, from the number of
// successes in `trials`. Each bound is wrong with probability at most `false_alarm`.
double lower_confidence_bound(std::uint64_t successes, std::uint64_t trials, double false_alarm);
double upper_confidence_bound(std::uint64_t successes, std::uint64_t trials, double false_alarm);

// Twice the smaller of the probabilities of at most `successes` and of at least `successes`.
double binomial_p_value(std::uint64_t successes, std::uint64_t trials, double probability);

}  // namespace dpquantile::test
