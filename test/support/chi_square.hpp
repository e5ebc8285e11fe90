#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

// Pearson's chi-square test of goodness of fit, for samplers with a known distribution.
namespace dpquantile::test {

// The false-alarm probability of one check `EXPECT_GT(p_value, kFalseAlarm)`: a correct sampler
// fails it once in 10^9 runs. The unit tests make fewer than 100 such checks, so together they fail
// by chance with probability below 10^-7. The factor 10 up to the promised 10^-6 covers the error
// of the chi-square approximation.
inline constexpr double kFalseAlarm = 1e-9;

// The probability that counts drawn from `probabilities` lie at least as far from their
// expectation as `observed`. Neighbouring cells are pooled until each pool expects 10 observations,
// because the chi-square approximation is poor for fewer. Returns 0 if a cell of probability 0 has
// an observation. Throws std::invalid_argument unless there is one count a probability, the
// probabilities are non-negative and sum to 1 within 10^-9, and at least two pools result.
double chi_square_p_value(std::span<const std::uint64_t> observed,
                          std::span<const double> probabilities);

// The p-value of `draws` independent results of `draw_cell`, each the index of a cell.
template <class DrawCell>
double sampled_p_value(std::span<const double> probabilities, int draws, DrawCell draw_cell) {
  std::vector<std::uint64_t> observed(probabilities.size(), 0);
  for (int i = 0; i < draws; ++i) ++observed.at(static_cast<std::size_t>(draw_cell()));
  return chi_square_p_value(observed, probabilities);
}

// The p-value, by a test such as chi_square_p_value(), of `draws` independent results of `draw`
// against the law of its results. Returns 0 if a result is not in the law.
template <class Outcome, class Probability, class Draw, class Test = decltype(chi_square_p_value)>
double p_value(const std::map<Outcome, Probability>& law, int draws, Draw draw,
               Test& test = chi_square_p_value) {
  std::map<Outcome, std::uint64_t> counts;
  for (int i = 0; i < draws; ++i) ++counts[draw()];
  std::vector<std::uint64_t> observed;
  std::vector<double> probabilities;
  for (const auto& [outcome, probability] : law) {
    observed.push_back(counts[outcome]);
    probabilities.push_back(static_cast<double>(probability));
  }
  return counts.size() > law.size() ? 0 : test(observed, probabilities);
}

}  // namespace dpquantile::test
