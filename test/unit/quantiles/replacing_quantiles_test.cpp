#include "core/quantiles/replacing_quantiles.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/quantiles/quantiles.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::heap;
using Quantiles = std::vector<double>;

constexpr double kAbove = 1 + 1e-9;

ReleaseCosts costs(QuantilesMethod method, const PrivacyParameter& privacy,
                   const Quantiles& quantiles, std::uint64_t cells = 1 << 20) {
  return QuantilesMechanism({method, privacy, cells, quantiles}, heap()).costs();
}

void expect_just_above(double charged, double least) {
  EXPECT_GE(charged, least * (1 - 0x1p-52));
  EXPECT_LE(charged, least * kAbove);
}

TEST(ReplacingQuantiles, CostsOneOverTheLargerSideForOneQuantile) {
  for (const QuantilesMethod method : {QuantilesMethod::kApproximate, QuantilesMethod::kJoint,
                                       QuantilesMethod::kIndependent, QuantilesMethod::kAuto}) {
    const PrivacyCost upper = costs(method, pure(0.9), {0.9}).replacing;
    expect_just_above(*upper.epsilon, 1);
    expect_just_above(*upper.rho, 1.0 / 8);
    EXPECT_EQ(*costs(method, pure(0.1), {0.5}).replacing.epsilon, 0.2);
    EXPECT_EQ(*costs(method, pure(0.1), {1}).replacing.epsilon, 0.1);
    EXPECT_EQ(*costs(method, zcdp(0.1), {0.5}).replacing.rho, 0.4);
    EXPECT_EQ(*costs(method, zcdp(0.1), {0}).replacing.rho, 0.1);
    EXPECT_FALSE(costs(method, zcdp(0.1), {0.5}).replacing.epsilon.has_value());
    expect_just_above(*costs(method, zcdp(0.81), {0.1}).replacing.rho, 1);
  }
}

// 0.8, 0.9 and 0.95 have two levels. The first draws 0.9.
TEST(ReplacingQuantiles, CostsTwiceEpsilonOnLevelsBelowTheFirst) {
  const PrivacyCost levels =
      costs(QuantilesMethod::kApproximate, pure(0.9), {0.8, 0.9, 0.95}).replacing;
  expect_just_above(*levels.epsilon, 0.45 / 0.9 + 0.9);
  expect_just_above(*levels.rho, (0.5 * 0.5 + 0.9 * 0.9) / 8);
  EXPECT_EQ(*costs(QuantilesMethod::kJoint, pure(0.9), {0.8, 0.9, 0.95}).replacing.epsilon, 1.8);
  expect_just_above(*costs(QuantilesMethod::kJoint, pure(0.9), {0.8, 0.9}).replacing.rho,
                    1.8 * 1.8 / 8);
  EXPECT_EQ(*costs(QuantilesMethod::kJoint, zcdp(0.1), {0.8, 0.9}).replacing.rho, 0.4);
}

TEST(ReplacingQuantiles, AddsUpIndependentDraws) {
  const PrivacyCost draws = costs(QuantilesMethod::kIndependent, pure(0.8), {0.8, 0.5}).replacing;
  expect_just_above(*draws.epsilon, 0.4 / 0.8 + 0.8);
  expect_just_above(*draws.rho, (0.5 * 0.5 + 0.8 * 0.8) / 8);
}

TEST(ReplacingQuantiles, CostsTwoCountsOfEachLevelOfATree) {
  const ReleaseCosts tree = costs(QuantilesMethod::kTree, pure(0.7), {0.5}, 100);
  EXPECT_EQ(*tree.replacing.epsilon, 1.4);
  EXPECT_EQ(*tree.replacing.rho, 2 * *tree.own.rho);
}

TEST(ReplacingQuantiles, NeverCostsLessThanARemovalNorMoreThanTwo) {
  for (const double epsilon : {1e-6, 0.1, 1000.0}) {
    for (const Quantiles& quantiles :
         {Quantiles{0}, {0.3}, {0.5}, {0.1, 0.2}, {0.7, 0.8, 0.9, 0.91, 0.99}}) {
      for (const QuantilesMethod method : {QuantilesMethod::kApproximate, QuantilesMethod::kJoint,
                                           QuantilesMethod::kIndependent}) {
        const ReleaseCosts both = costs(method, pure(epsilon), quantiles);
        EXPECT_GE(*both.replacing.epsilon, *both.own.epsilon);
        EXPECT_LE(*both.replacing.epsilon, 2 * *both.own.epsilon);
        EXPECT_GE(*both.replacing.rho, *both.own.rho * (1 - 1e-12));
        EXPECT_LE(*both.replacing.rho, 4 * *both.own.rho * kAbove);
      }
    }
  }
}

}  // namespace
}  // namespace dpquantile
