#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/chi_square.hpp"

// Compares a sample with a law that spans many orders of magnitude.
namespace dpquantile::test {

// The false-alarm probability of one check `EXPECT_GT(law_p_value(...), kLawFalseAlarm)` is at most
// 5 * 10^-10: neighbouring outcomes are pooled until 1000 observations are expected, so the tail of
// the chi-square approximation is right within a factor of 5. The unit tests make fewer than 200
// such checks, so together they fail by chance with probability below 10^-7.
inline constexpr double kLawFalseAlarm = 1e-10;

// The p-value of the counts of outcomes against their probabilities. Returns 0 if an outcome of
// probability 0 has a count.
inline double law_p_value(std::span<const std::uint64_t> observed,
                          std::span<const double> probabilities) {
  constexpr double kSmallestExpectation = 1000;
  double draws = 0;
  for (const std::uint64_t count : observed) draws += static_cast<double>(count);
  std::vector<std::uint64_t> counts(1);
  std::vector<double> pools(1);
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (observed[i] > 0 && probabilities[i] == 0) return 0;
    if (draws * pools.back() >= kSmallestExpectation) {
      counts.push_back(0);
      pools.push_back(0);
    }
    counts.back() += observed[i];
    pools.back() += probabilities[i];
  }
  if (pools.size() > 1 && draws * pools.back() < kSmallestExpectation) {
    pools[pools.size() - 2] += pools.back();
    counts[counts.size() - 2] += counts.back();
    pools.pop_back();
    counts.pop_back();
  }
  return chi_square_p_value(counts, pools);
}

}  // namespace dpquantile::test
