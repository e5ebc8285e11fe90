#pragma once

#include <cstdint>

// How much the mean and the variance of kept values can move, and how far they can be from the mean
// and the variance of all values. Everything is a function of public counts: `kept` = sum of
// Gamma_l, the number of rows kept; `most` = max Gamma_l, the most rows kept of one user;
// `all` = sum of m_l, the number of all rows.
//
// Source: Rameshwar et al. 2024b, "Improving the Privacy Loss Under User-Level DP Composition for
// Fixed Estimation Error" (arXiv:2405.06261), derived anew in docs/privacy.md, "User-level means
// and variances". With k = min(most, floor(kept / 2)) the three cases of the variance's sensitivity
// become one: k (kept - k) / kept^2.
namespace dpquantile {

// The sensitivity of the mean for replacing one user's values: most / kept, in units of U / kOne,
// rounded up. Requires 1 <= most <= kept < 2^32.
std::uint64_t mean_sensitivity(std::uint64_t kept, std::uint64_t most);

// The sensitivity of the population variance for the same, in units of U^2 / kOne, rounded up; 0
// for a single value. Has the same requirements.
std::uint64_t variance_sensitivity(std::uint64_t kept, std::uint64_t most);

// The same sensitivities in units of U and U^2, not rounded. They are for error figures and must
// not be used for noise.
double mean_sensitivity_fraction(std::uint64_t kept, std::uint64_t most);
double variance_sensitivity_fraction(std::uint64_t kept, std::uint64_t most);

// The left-out error: the largest difference, over all data, between the mean (variance) of `all`
// values and that of any `kept` of them, in units of U (U^2). It is 1 - kept / all for the mean,
// and j (all - j) / all^2 with j = min(all - kept, floor(all / 2)) for the variance. Requires
// all >= 1.
double mean_left_out_error(std::uint64_t all, std::uint64_t kept);
double variance_left_out_error(std::uint64_t all, std::uint64_t kept);

}  // namespace dpquantile
