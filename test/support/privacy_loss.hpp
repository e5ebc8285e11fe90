#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Refutes a privacy claim from releases of two neighbouring datasets.
namespace dpquantile::test {

// The false-alarm probability of one check of a sample. The privacy tests make fewer than 3000 such
// checks, so together they fail by chance with probability below 3 * 10^-7. All bounds are exact.
inline constexpr double kFalseAlarm = 1e-10;

// How often each outcome was released for one dataset, in two independent halves of equal size. The
// checks choose suspicious events on the first half and test them on the second.
struct Sample {
  std::vector<std::uint64_t> chosen_on;
  std::vector<std::uint64_t> tested_on;
};

// Draws 2 * draws outcomes; `draw` gives the index of an outcome.
template <class Draw>
Sample take_sample(std::size_t outcomes, int draws, Draw draw) {
  Sample sample{std::vector<std::uint64_t>(outcomes), std::vector<std::uint64_t>(outcomes)};
  for (int i = 0; i < draws; ++i) ++sample.chosen_on.at(static_cast<std::size_t>(draw()));
  for (int i = 0; i < draws; ++i) ++sample.tested_on.at(static_cast<std::size_t>(draw()));
  return sample;
}

// A lower confidence bound on the largest P[E] - e^epsilon P'[E] over events E, with P and P' the
// laws of the two samples in either order. The events are every single outcome and the union of
// outcomes that looks worst on the first halves. An (epsilon, delta)-differentially private
// mechanism gives a value above delta with probability at most `false_alarm` (Clopper-Pearson
// bounds, with false_alarm divided by Bonferroni). Both samples must have the same outcomes, fixed
// beforehand.
double certain_delta(const Sample& sample, const Sample& neighbour, double epsilon,
                     double false_alarm);

// The largest P[E] - e^epsilon P'[E] over all events for two known laws, in either order. It is the
// least delta for which the laws are (epsilon, delta)-indistinguishable.
long double exact_delta(std::span<const long double> law, std::span<const long double> neighbour,
                        long double epsilon);

// The largest |ln(P[o] / P'[o])| over all outcomes of two known laws.
long double exact_loss(std::span<const long double> law, std::span<const long double> neighbour);

// The largest ln(P[o] / P'[o]) minus the smallest one, over all outcomes of two known laws.
long double exact_range(std::span<const long double> law, std::span<const long double> neighbour);

// The Renyi divergence of order alpha > 1 of two known laws, the larger one of both directions.
long double exact_renyi_divergence(std::span<const long double> law,
                                   std::span<const long double> neighbour, long double alpha);

// The p-value of a sample against the law that it should follow: the least exact binomial p-value
// of an outcome, times the number of outcomes (Bonferroni).
double fit_p_value(const Sample& sample, std::span<const long double> law);

}  // namespace dpquantile::test
