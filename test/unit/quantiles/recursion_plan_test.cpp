#include "core/quantiles/recursion_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/quantiles/quantiles.hpp"

namespace dpquantile {
namespace {

using PlanOf = RecursionPlan (*)(std::size_t, const PrivacyParameter&);

constexpr PlanOf kPlans[] = {approximate_plan, joint_plan, best_plan, block_plan};
// The relative rounding error of a sum of parts.
constexpr double kRounding = 0x1p-50;

std::vector<std::uint32_t> numbers(const RecursionPlan& plan) {
  std::vector<std::uint32_t> quantiles;
  for (const RecursionLevel& level : plan) quantiles.push_back(level.quantiles);
  return quantiles;
}

// The most quantiles left between those of a level, which divide them as evenly as possible.
std::size_t most_left(std::size_t quantiles, std::size_t drawn) {
  return drawn >= quantiles ? 0 : quantiles / (drawn + 1);
}

TEST(RecursionPlan, HasLevelsForAllQuantiles) {
  for (const PlanOf plan_of : kPlans) {
    for (const PrivacyParameter& privacy : {pure(1), zcdp(0.5)}) {
      for (std::size_t m = 1; m <= kMaxQuantiles; ++m) {
        std::size_t left = m;
        for (const RecursionLevel& level : plan_of(m, privacy)) {
          ASSERT_GT(left, 0U) << m << ": a level too many";
          left = most_left(left, level.quantiles);
        }
        ASSERT_EQ(left, 0U) << m;
      }
    }
  }
}

// The draws refuse less, because rounding would cost more than they set aside for it.
TEST(RecursionPlan, GivesEveryLevelEnoughForItsRounding) {
  for (const PlanOf plan_of : kPlans) {
    for (const PrivacyParameter& privacy : {pure(kMinEpsilon), zcdp(kMinRho)}) {
      for (std::size_t m = 1; m <= kMaxQuantiles; ++m) {
        if (plan_of == joint_plan && m > kMaxJointQuantiles) break;
        for (const RecursionLevel& level : plan_of(m, privacy)) {
          ASSERT_GE(level.epsilon,
                    level.quantiles == 1 ? kMinDrawEpsilon : min_joint_epsilon(level.quantiles))
              << m;
        }
      }
    }
  }
}

TEST(RecursionPlan, SpendsTheWholeEpsilon) {
  for (const PlanOf plan_of : kPlans) {
    for (const double epsilon : {1e-6, 0.1, 1.0, 3.7, 1000.0}) {
      for (std::size_t m = 1; m <= kMaxQuantiles; ++m) {
        double spent = 0;
        for (const RecursionLevel& level : plan_of(m, pure(epsilon))) {
          ASSERT_GT(level.epsilon, 0);
          spent += level.epsilon;
        }
        ASSERT_LE(spent, epsilon * (1 + kRounding)) << m;
        ASSERT_GE(spent, epsilon * (1 - kRounding)) << m;
      }
    }
  }
}

TEST(RecursionPlan, SpendsTheWholeRho) {
  for (const PlanOf plan_of : kPlans) {
    for (const double rho : {1e-12, 0.01, 0.5, 1000.0}) {
      for (std::size_t m = 1; m <= kMaxQuantiles; ++m) {
        double spent = 0;
        for (const RecursionLevel& level : plan_of(m, zcdp(rho))) {
          spent += level.epsilon * level.epsilon / 8;
        }
        ASSERT_LE(spent, rho) << m;
        ASSERT_GE(spent, rho * (1 - 1e-12)) << m;
        ASSERT_LE(rho_of_plan(plan_of(m, zcdp(rho))), rho * (1 + 1e-12)) << m;
      }
    }
  }
}

TEST(RecursionPlan, HasTheRhoOfItsLevels) {
  const double rho = rho_of_plan(approximate_plan(9, pure(0.05)));
  EXPECT_NEAR(rho, 4 * 0.0125 * 0.0125 / 8, 1e-16);
  EXPECT_GE(rho, 4 * 0.0125 * 0.0125 / 8);
  EXPECT_NEAR(rho_of_plan(joint_plan(9, pure(0.05))), 0.05 * 0.05 / 8, 1e-16);
}

TEST(ApproximatePlan, HasTheFloorOfTheBinaryLogarithmPlusOneLevels) {
  EXPECT_EQ(approximate_plan(1, pure(2)), (RecursionPlan{{1, 2}}));
  EXPECT_EQ(approximate_plan(3, pure(2)), (RecursionPlan{{1, 1}, {1, 1}}));
  EXPECT_EQ(approximate_plan(4, pure(3)), (RecursionPlan{{1, 1}, {1, 1}, {1, 1}}));
}

TEST(JointPlan, HasOneLevel) {
  EXPECT_EQ(joint_plan(9, pure(0.5)), (RecursionPlan{{9, 0.5}}));
  const RecursionPlan plan = joint_plan(9, zcdp(0.5));
  EXPECT_EQ(numbers(plan), std::vector<std::uint32_t>{9});
  EXPECT_NEAR(plan[0].epsilon, 2, 1e-12);
  EXPECT_LE(plan[0].epsilon, 2);
}

TEST(BestPlan, DrawsUpToSixteenQuantilesTogetherUnderPurePrivacy) {
  EXPECT_EQ(best_plan(1, pure(1)), (RecursionPlan{{1, 1}}));
  EXPECT_EQ(best_plan(16, pure(1)), (RecursionPlan{{16, 1}}));
  EXPECT_EQ(numbers(best_plan(17, pure(1))), (std::vector<std::uint32_t>{5, 2}));
  EXPECT_EQ(numbers(best_plan(50, pure(1))), (std::vector<std::uint32_t>{16, 2}));
  EXPECT_EQ(numbers(best_plan(51, pure(1))), (std::vector<std::uint32_t>{4, 4, 4}));
  EXPECT_EQ(numbers(best_plan(124, pure(1))), (std::vector<std::uint32_t>{4, 4, 4}));
  EXPECT_EQ(numbers(best_plan(125, pure(1))), (std::vector<std::uint32_t>{4, 4, 4, 4}));
}

TEST(BlockPlan, DrawsAtMostFourTogetherOnFewLevelsUnderPurePrivacy) {
  EXPECT_EQ(block_plan(1, pure(1)), (RecursionPlan{{1, 1}}));
  EXPECT_EQ(block_plan(4, pure(1)), (RecursionPlan{{4, 1}}));
  EXPECT_EQ(numbers(block_plan(5, pure(1))), (std::vector<std::uint32_t>{4, 1}));
  EXPECT_EQ(numbers(block_plan(9, pure(1))), (std::vector<std::uint32_t>{4, 1}));
  EXPECT_EQ(numbers(block_plan(10, pure(1))), (std::vector<std::uint32_t>{4, 2}));
  EXPECT_EQ(numbers(block_plan(24, pure(1))), (std::vector<std::uint32_t>{4, 4}));
  EXPECT_EQ(numbers(block_plan(25, pure(1))), (std::vector<std::uint32_t>{4, 4, 1}));
}

TEST(BlockPlan, IsTheBestPlanUnderZcdp) {
  for (std::size_t m = 1; m <= 100; ++m) EXPECT_EQ(block_plan(m, zcdp(1)), best_plan(m, zcdp(1)));
}

TEST(BestPlan, SpendsMoreOnTheFirstLevels) {
  const RecursionPlan plan = best_plan(124, pure(3));
  ASSERT_EQ(plan.size(), 3U);
  EXPECT_NEAR(plan[0].epsilon, 1.2, 1e-12);
  EXPECT_NEAR(plan[1].epsilon, 1, 1e-12);
  EXPECT_NEAR(plan[2].epsilon, 0.8, 1e-12);
}

TEST(BestPlan, DrawsTwoOnTheLastLevelUnderZcdpWhereThatSavesALevel) {
  EXPECT_EQ(numbers(best_plan(1, zcdp(1))), std::vector<std::uint32_t>{1});
  EXPECT_EQ(numbers(best_plan(2, zcdp(1))), std::vector<std::uint32_t>{2});
  EXPECT_EQ(numbers(best_plan(3, zcdp(1))), (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(numbers(best_plan(5, zcdp(1))), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(numbers(best_plan(6, zcdp(1))), (std::vector<std::uint32_t>{1, 1, 1}));
  EXPECT_EQ(numbers(best_plan(9, zcdp(1))), (std::vector<std::uint32_t>{1, 1, 2}));
}

// Up to 24 quantiles only, although two on the last level would save a level for 25, 35 and 80 too.
TEST(BestPlan, DrawsTwoOnTheLastLevelUnderZcdpForUpTo24Quantiles) {
  const auto ones_and = [](std::size_t ones, std::vector<std::uint32_t> last) {
    std::vector<std::uint32_t> expected(ones, 1);
    expected.insert(expected.end(), last.begin(), last.end());
    return expected;
  };
  for (const double rho : {1e-3, 1.0}) {
    const auto of = [&](std::size_t m) { return numbers(best_plan(m, zcdp(rho))); };
    EXPECT_EQ(of(4), ones_and(1, {2}));
    EXPECT_EQ(of(8), ones_and(2, {2}));
    EXPECT_EQ(of(11), ones_and(2, {2}));
    EXPECT_EQ(of(12), ones_and(4, {}));
    EXPECT_EQ(of(15), ones_and(4, {}));
    EXPECT_EQ(of(16), ones_and(3, {2}));
    EXPECT_EQ(of(23), ones_and(3, {2}));
    EXPECT_EQ(of(24), ones_and(5, {}));
    EXPECT_EQ(of(25), ones_and(5, {}));
    EXPECT_EQ(of(31), ones_and(5, {}));
    EXPECT_EQ(of(35), ones_and(6, {}));
    EXPECT_EQ(of(80), ones_and(7, {}));
  }
}

TEST(BestPlan, HasNoMoreLevelsUnderZcdpThanOneAtATime) {
  for (std::size_t m = 1; m <= kMaxQuantiles; ++m) {
    const RecursionPlan plan = best_plan(m, zcdp(1));
    const std::size_t levels = approximate_plan(m, zcdp(1)).size();
    if (plan.back().quantiles == 1) {
      ASSERT_EQ(plan, approximate_plan(m, zcdp(1))) << m;
    } else {
      ASSERT_EQ(plan.back().quantiles, 2U) << m;
      ASSERT_EQ(plan.size(), levels - 1) << m;
      ASSERT_LE(m, 24U);
    }
  }
}

// A level that is too large for a joint draw would fail.
TEST(BestPlan, DrawsNoMoreTogetherThanTheJointMechanismCan) {
  for (const PrivacyParameter& privacy : {pure(1), zcdp(0.5)}) {
    for (std::size_t m = 1; m <= kMaxQuantiles; ++m) {
      for (const RecursionLevel& level : best_plan(m, privacy)) ASSERT_LE(level.quantiles, 16U);
    }
  }
}

}  // namespace
}  // namespace dpquantile
