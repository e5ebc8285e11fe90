#include "core/privacy/privacy_cost.hpp"

#include <gtest/gtest.h>

#include "core/privacy/zcdp.hpp"

namespace dpquantile {
namespace {

TEST(ProductAbove, IsTheProductRoundedUp) {
  EXPECT_EQ(product_above(0.1, 2), 0.2);
  EXPECT_EQ(product_above(3, 1), 3);
  // 0.1 * 3 rounds up by itself, 0.7 * 1.1 down.
  EXPECT_EQ(product_above(0.1, 3), 0.1 * 3);
  EXPECT_GE(static_cast<long double>(product_above(0.7, 1.1)), 0.7L * 1.1L * (1 - 0x1p-52L));
}

TEST(ReplacingCost, IsTwiceEpsilonAndRhoForIndependentNoise) {
  const ReleaseCosts laplace = vector_noise_costs(pure_cost(0.5));
  EXPECT_EQ(*laplace.own.epsilon, 0.5);
  EXPECT_EQ(*laplace.replacing.epsilon, 1);
  EXPECT_EQ(*laplace.replacing.rho, 2 * rho_of_pure(0.5));
  const ReleaseCosts gaussian = vector_noise_costs({std::nullopt, 0, 0.1});
  EXPECT_FALSE(gaussian.replacing.epsilon.has_value());
  EXPECT_EQ(*gaussian.replacing.rho, 0.2);
}

TEST(ReplacingCost, OfANumberGrowsWithItsChange) {
  EXPECT_EQ(*replacing_cost_of_noise(pure(0.5), 1).epsilon, 0.5);
  EXPECT_EQ(*replacing_cost_of_noise(pure(0.5), 2).rho, rho_of_pure(1));
  EXPECT_EQ(*replacing_cost_of_noise(zcdp(0.5), 1.5).rho, 1.125);
}

// Lemma Z8: an (epsilon, delta)-differentially private mechanism has the rho of epsilon.
TEST(ApproximateCost, HasARhoBesideItsDelta) {
  EXPECT_EQ(*approximate_cost(0.5, 1e-6).rho, rho_of_pure(0.5));
  EXPECT_EQ(*approximate_cost(0.5, 1e-6, 0.01).rho, 0.01);
  EXPECT_EQ(*approximate_cost(0.5, 1e-6, 1).rho, rho_of_pure(0.5));
}

TEST(ReplacingCost, MultipliesTheCostOfIndependentParts) {
  const PrivacyCost twice = multiplied_costs(approximate_cost(0.5, 1e-6, 0.03), 2).replacing;
  EXPECT_EQ(*twice.epsilon, 1);
  EXPECT_EQ(twice.delta, 2e-6);
  EXPECT_EQ(*twice.rho, 0.06);
}

// A row whose key is replaced leaves one group and enters another.
TEST(ReplacingCost, InGroupsIsAtLeastTwiceThatOfARow) {
  const ReleaseCosts approximate = costs_in_groups(same_costs(approximate_cost(0.5, 1e-6)));
  EXPECT_EQ(*approximate.own.epsilon, 0.5);
  EXPECT_EQ(*approximate.replacing.epsilon, 1);
  EXPECT_EQ(approximate.replacing.delta, 2e-6);
  EXPECT_EQ(*approximate.replacing.rho, 2 * rho_of_pure(0.5));
  const ReleaseCosts gaussian = costs_in_groups(same_costs({std::nullopt, 0, 0.1}));
  EXPECT_EQ(*gaussian.replacing.rho, 0.2);
  const ReleaseCosts more = costs_in_groups({pure_cost(0.5), pure_cost(3)});
  EXPECT_EQ(*more.replacing.epsilon, 3);
}

}  // namespace
}  // namespace dpquantile
