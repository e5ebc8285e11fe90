#include "core/privacy/weighted_sampler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/random.hpp"
#include "support/chi_square.hpp"
#include "support/random_testing.hpp"

// Every statistical check has a false-alarm probability of 10^-9 (see chi_square.hpp).
namespace dpquantile {
namespace {

using test::FailingSource;
using test::kFalseAlarm;
using test::sampled_p_value;
using test::ScriptedSource;

// The item that one scan takes, or the number of items if it takes none.
std::size_t scan_once(RandomStream& random, const std::vector<double>& weights) {
  WeightedSampler scan(random);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (scan.takes(weights[i])) return i;
  }
  return weights.size();
}

std::size_t scan(RandomStream& random, const std::vector<double>& weights) {
  for (;;) {
    const std::size_t taken = scan_once(random, weights);
    if (taken < weights.size()) return taken;
  }
}

TEST(WeightedSampler, DrawsInProportionToTheWeights) {
  CsprngSource source;
  RandomStream random(source);
  const std::vector<std::vector<double>> laws = {
      {1}, {0.5, 0.5}, {0.7, 0.1, 0.2}, {0, 0.25, 0, 0.75, 0}, {0.001, 0.998, 0.001}};
  for (const std::vector<double>& law : laws) {
    if (law.size() == 1) {
      EXPECT_EQ(scan(random, law), 0U);
      continue;
    }
    EXPECT_GT(sampled_p_value(law, 100'000, [&] { return scan(random, law); }), kFalseAlarm);
  }
}

// A scan that takes nothing is repeated.
TEST(WeightedSampler, DrawsInProportionToWeightsWithASmallSum) {
  CsprngSource source;
  RandomStream random(source);
  const std::vector<double> weights = {0.01, 0.02, 0.07};
  const std::vector<double> law = {0.1, 0.2, 0.7};
  EXPECT_GT(sampled_p_value(law, 20'000, [&] { return scan(random, weights); }), kFalseAlarm);
}

// The words of a script, most significant first, are the drawn number without its 7 upper bits,
// which uniform_below_128 does not need. The number is below 2^120 + 2^100.
TEST(WeightedSampler, CountsWeightsOfTwoToTheMinus100) {
  const std::vector<double> weights = {std::ldexp(1.0, -100), 0.5};
  CsprngSource source;
  RandomStream random(source);
  // A random draw practically never takes such a weight.
  for (int i = 0; i < 1000; ++i) EXPECT_NE(scan_once(random, weights), 0U);
  ScriptedSource zeros({0, 0, 0, 0});
  RandomStream least(zeros);
  EXPECT_EQ(scan_once(least, weights), 0U);
  ScriptedSource again({0, 0, 0, 0});
  RandomStream least_again(again);
  EXPECT_EQ(scan_once(least_again, {0, 0, std::ldexp(1.0, -120)}), 2U);
  ScriptedSource third({0, 0, 0, 0});
  RandomStream too_small(third);
  EXPECT_EQ(scan_once(too_small, {std::ldexp(1.0, -121), 0, 1}), 2U);
}

// Rounding may make the sum of the weights exceed 1 by 2^-20. The last item keeps its part.
TEST(WeightedSampler, LeavesRoomForSumsBeyondOne) {
  CsprngSource source;
  RandomStream random(source);
  int none = 0;
  for (int i = 0; i < 10'000; ++i) none += scan_once(random, {0.5, 0.5}) == 2 ? 1 : 0;
  // Binomial with mean 0.01: more than 6 have a probability below 10^-17.
  EXPECT_LE(none, 6);
}

TEST(WeightedSampler, ThrowsWhenTheSourceFails) {
  FailingSource source;
  EXPECT_THROW(
      {
        RandomStream random(source);
        WeightedSampler scan(random);
      },
      RandomnessUnavailable);
}

}  // namespace
}  // namespace dpquantile
