#include "support/privacy_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/privacy/random.hpp"
#include "support/confidence.hpp"

// Tests the privacy checks themselves, on known laws.
namespace dpquantile {
namespace {

using test::binomial_p_value;
using test::certain_delta;
using test::exact_delta;
using test::exact_loss;
using test::fit_p_value;
using test::kFalseAlarm;
using test::lower_confidence_bound;
using test::Sample;
using test::take_sample;
using test::upper_confidence_bound;

using Law = std::vector<long double>;

TEST(ConfidenceBounds, AreThoseOfClopperAndPearson) {
  EXPECT_NEAR(lower_confidence_bound(2, 10, 0.025), 0.0252107, 1e-7);
  EXPECT_NEAR(upper_confidence_bound(2, 10, 0.025), 0.5560955, 1e-7);
  EXPECT_NEAR(upper_confidence_bound(0, 100, 0.05), 1 - std::pow(0.05, 0.01), 1e-12);
  EXPECT_NEAR(lower_confidence_bound(100, 100, 0.05), std::pow(0.05, 0.01), 1e-12);
  EXPECT_EQ(lower_confidence_bound(0, 100, 0.05), 0);
  EXPECT_EQ(upper_confidence_bound(100, 100, 0.05), 1);
}

TEST(BinomialPValue, IsTwiceTheSmallerTail) {
  EXPECT_NEAR(binomial_p_value(0, 10, 0.5), 2.0 / 1024, 1e-12);
  EXPECT_NEAR(binomial_p_value(9, 10, 0.5), 22.0 / 1024, 1e-12);
  EXPECT_EQ(binomial_p_value(5, 10, 0.5), 1);
  EXPECT_EQ(binomial_p_value(0, 10, 0), 1);
  EXPECT_EQ(binomial_p_value(1, 10, 0), 0);
}

TEST(ExactDelta, IsTheLargestExcessOfAnEvent) {
  const Law law = {0.5L, 0.3L, 0.2L};
  const Law neighbour = {0.1L, 0.3L, 0.6L};
  EXPECT_NEAR(static_cast<double>(exact_delta(law, neighbour, 0)), 0.4, 1e-15);
  EXPECT_NEAR(static_cast<double>(exact_delta(law, neighbour, std::log(2.0L))), 0.3, 1e-15);
  EXPECT_NEAR(static_cast<double>(exact_delta(neighbour, law, std::log(2.0L))), 0.3, 1e-15);
  EXPECT_EQ(exact_delta(law, neighbour, std::log(5.1L)), 0);
}

TEST(ExactLoss, IsTheLargestLogarithmOfARatio) {
  const Law law = {0.5L, 0.3L, 0.2L, 0};
  const Law neighbour = {0.1L, 0.3L, 0.6L, 0};
  EXPECT_NEAR(static_cast<double>(exact_loss(law, neighbour)), std::log(5), 1e-15);
  EXPECT_TRUE(std::isinf(exact_loss(Law{1, 0}, Law{0.5L, 0.5L})));
}

// --- Randomised response -------------------------------------------------------------------------

// Tells two datasets apart with exactly this epsilon. The answer is spread over many outcomes, so
// that only their union tells anything.
class RandomisedResponse : public ::testing::Test {
 protected:
  static constexpr std::size_t kOutcomes = 200;

  Sample sample(bool truth, double epsilon, int draws) {
    const double honest = 1 / (1 + std::exp(-epsilon));
    return take_sample(kOutcomes, draws, [&] {
      const bool answer = (random_.unit_real() < honest) == truth;
      return random_.uniform_below(kOutcomes / 2) + (answer ? kOutcomes / 2 : 0);
    });
  }
  static Law law(bool truth, double epsilon) {
    Law law(kOutcomes, 2.0L / kOutcomes / (1 + std::exp(static_cast<long double>(epsilon))));
    for (std::size_t i = 0; i < kOutcomes / 2; ++i) {
      law[i + (truth ? kOutcomes / 2 : 0)] *= std::exp(static_cast<long double>(epsilon));
    }
    return law;
  }

  CsprngSource source_;
  RandomStream random_{source_};
};

TEST_F(RandomisedResponse, KeepsItsEpsilon) {
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    const Sample yes = sample(true, epsilon, 100'000);
    const Sample no = sample(false, epsilon, 100'000);
    EXPECT_LE(certain_delta(yes, no, epsilon, kFalseAlarm), 0) << epsilon;
  }
}

// The excess 1 / (1 + e^-1.1) - e / (1 + e^1.1) = 0.0714 is more than 20 standard deviations.
TEST_F(RandomisedResponse, IsRefutedAtATenthMoreThanTheClaimedEpsilon) {
  const Sample yes = sample(true, 1.1, 200'000);
  const Sample no = sample(false, 1.1, 200'000);
  EXPECT_GT(certain_delta(yes, no, 1, kFalseAlarm), 0);
  EXPECT_GT(certain_delta(no, yes, 1, kFalseAlarm), 0);
}

TEST_F(RandomisedResponse, FitsItsLawAndNoOther) {
  const Sample yes = sample(true, 1, 200'000);
  EXPECT_GT(fit_p_value(yes, law(true, 1)), kFalseAlarm);
  EXPECT_LT(fit_p_value(yes, law(true, 2)), kFalseAlarm);
  EXPECT_LT(fit_p_value(yes, law(false, 1)), kFalseAlarm);
}

TEST(ExactRange, IsTheLargestDifferenceOfLosses) {
  const std::vector<long double> law = {0.5L, 0.25L, 0.25L};
  const std::vector<long double> neighbour = {0.25L, 0.25L, 0.5L};
  EXPECT_NEAR(static_cast<double>(test::exact_range(law, neighbour)), 2 * std::log(2), 1e-12);
  EXPECT_EQ(test::exact_range(law, law), 0);
}

// For randomised response it is ln(p^a (1 - p)^(1 - a) + (1 - p)^a p^(1 - a)) / (a - 1).
TEST(ExactRenyiDivergence, MatchesTheFormulaForRandomisedResponse) {
  const std::vector<long double> law = {0.75L, 0.25L};
  const std::vector<long double> neighbour = {0.25L, 0.75L};
  for (const double alpha : {1.5, 2.0, 10.0}) {
    const double expected = std::log(std::pow(0.75, alpha) * std::pow(0.25, 1 - alpha) +
                                     std::pow(0.25, alpha) * std::pow(0.75, 1 - alpha)) /
                            (alpha - 1);
    EXPECT_NEAR(static_cast<double>(test::exact_renyi_divergence(law, neighbour, alpha)), expected,
                1e-12);
  }
  EXPECT_NEAR(static_cast<double>(test::exact_renyi_divergence(law, law, 7)), 0, 1e-15);
  const std::vector<long double> skew = {0.01L, 0.99L};
  const std::vector<long double> even = {0.5L, 0.5L};
  EXPECT_EQ(test::exact_renyi_divergence(skew, even, 3),
            test::exact_renyi_divergence(even, skew, 3));
}

}  // namespace
}  // namespace dpquantile
