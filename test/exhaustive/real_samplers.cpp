// The sources of the samplers, compiled with other names. Noise takes exact coins in place of those
// of exp_coin.hpp, which are looked at by themselves.
#include "exhaustive/real_samplers.hpp"

#include <cmath>

#include "core/privacy/exp_coin.hpp"
#include "exhaustive/draws.hpp"

namespace dpquantile {

namespace {

template <class Integer>
bool exact_exp_of_any(RandomStream&, const Integer& numerator, const Integer& denominator) {
  return exhaustive::draws().coin(
      std::exp(-static_cast<double>(numerator) / static_cast<double>(denominator)));
}

bool exact_exp_one(RandomStream& random) {
  return exact_exp_of_any(random, 1, 1);
}

}  // namespace

}  // namespace dpquantile

#define bernoulli_exp_one exact_exp_one
#define bernoulli_exp_of_any exact_exp_of_any
#define bernoulli_exp real_bernoulli_exp
#define discrete_laplace real_discrete_laplace
#define discrete_gaussian real_discrete_gaussian
#define WeightedSampler RealWeightedSampler
#define draw_weighted_index real_draw_weighted_index

#include "../../src/core/privacy/noise.cpp"
#include "../../src/core/privacy/weighted_sampler.hpp"

namespace dpquantile::exhaustive {

std::int64_t real_scan(const std::vector<double>& weights, RandomStream& random) {
  RealWeightedSampler sampler(random);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (sampler.takes(weights[k])) return static_cast<std::int64_t>(k);
  }
  return -1;
}

std::int64_t real_draw_index(const std::vector<double>& weights, RandomStream& random) {
  std::vector<double> sums(weights.size() + 1);
  for (std::size_t k = 0; k < weights.size(); ++k) sums[k + 1] = sums[k] + weights[k];
  return static_cast<std::int64_t>(real_draw_weighted_index(
      weights.size(), [&](std::size_t k) { return sums[k]; },
      [&](std::size_t k) { return weights[k]; }, sums.back(), random));
}

}  // namespace dpquantile::exhaustive
