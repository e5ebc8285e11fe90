#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/random.hpp"
#include "core/quantiles/default_method.hpp"
#include "core/quantiles/independent_quantiles.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/quantiles/recursion_plan.hpp"
#include "core/quantiles/recursive_quantiles.hpp"
#include "core/quantiles/tree_quantiles.hpp"
#include "support/chi_square.hpp"
#include "support/context_testing.hpp"
#include "support/dataset.hpp"
#include "support/equally_spaced.hpp"
#include "support/joint_law.hpp"
#include "support/parameter_error.hpp"
#include "support/quantile_density.hpp"
#include "support/quantiles_law.hpp"
#include "support/quantiles_sampler.hpp"
#include "support/random_testing.hpp"

// Tests the common properties of the methods of draw_quantiles, and the laws of the methods that
// use the joint mechanism or the mechanism for one quantile. Every statistical check has a
// false-alarm probability of 10^-9, up to the chi-square approximation (see chi_square.hpp).
namespace dpquantile {
namespace {

using test::Dataset;
using test::equally_spaced;
using test::expect_parameter_error;
using test::FailingSource;
using test::heap;
using test::histogram_of;
using test::joint_law;
using test::joint_then_one_law;
using test::kFalseAlarm;
using test::Law;
using test::p_value;
using test::QuantileDensity;
using test::quantiles_law;
using test::QuantilesSampler;
using test::Real;
using test::RealRank;
using test::TestContext;

using Cells = std::vector<std::uint32_t>;
using Quantiles = std::vector<double>;

constexpr QuantilesMethod kMethods[] = {QuantilesMethod::kApproximate, QuantilesMethod::kJoint,
                                        QuantilesMethod::kIndependent, QuantilesMethod::kAuto,
                                        QuantilesMethod::kBlocks,      QuantilesMethod::kDefault};

// The law of quantiles that are drawn separately and sorted.
Law independent_law(const Dataset& data, const Quantiles& quantiles, Real epsilon_each) {
  const RealRank rank(data);
  Law law = {{{}, 1}};
  for (const double q : quantiles) {
    const QuantileDensity density(rank, 0, static_cast<Real>(data.cells), q, epsilon_each);
    Law longer;
    for (const auto& [cells, probability] : law) {
      for (std::uint32_t cell = 0; cell < data.cells; ++cell) {
        Cells sorted = cells;
        sorted.push_back(cell);
        std::ranges::sort(sorted);
        const Real start = static_cast<Real>(cell);
        longer[sorted] += probability * density.probability(start, start + 1);
      }
    }
    law = longer;
  }
  return law;
}

const Dataset kData{4, {0, 1, 1, 3, 3, 3}};
const Quantiles kTwo = {0.25, 0.75};
const Quantiles kThree = {0.25, 0.5, 0.75};

double p_value_of(const Law& law, const Quantiles& quantiles, const PrivacyParameter& privacy,
                  QuantilesMethod method, int draws) {
  QuantilesSampler sampler(kData, quantiles, privacy, method);
  return p_value(law, draws, [&] { return sampler.draw(); });
}

// --- Laws ----------------------------------------------------------------------------------------

TEST(JointQuantiles, AreOneDrawOfTheJointMechanism) {
  EXPECT_GT(p_value_of(joint_law(kData, kTwo, 3, 80), kTwo, pure(3), QuantilesMethod::kJoint, 1500),
            kFalseAlarm);
  // rho 0.5 is a bounded range of 2.
  EXPECT_GT(
      p_value_of(joint_law(kData, kTwo, 2, 80), kTwo, zcdp(0.5), QuantilesMethod::kJoint, 1500),
      kFalseAlarm);
}

TEST(IndependentQuantiles, AreDrawnSeparatelyAndSorted) {
  EXPECT_GT(p_value_of(independent_law(kData, kThree, 2), kThree, pure(6),
                       QuantilesMethod::kIndependent, 100'000),
            kFalseAlarm);
  // rho 1.5 is a bounded range of 2 for each of three.
  EXPECT_GT(p_value_of(independent_law(kData, kThree, 2), kThree, zcdp(1.5),
                       QuantilesMethod::kIndependent, 100'000),
            kFalseAlarm);
}

TEST(ApproximateQuantiles, HaveTheSameBoundedRangeOnEachLevelUnderZcdp) {
  EXPECT_GT(p_value_of(quantiles_law(kData, kThree, 4), kThree, zcdp(1),
                       QuantilesMethod::kApproximate, 100'000),
            kFalseAlarm);
}

TEST(AutoQuantiles, AreDrawnTogetherOrOneAtATime) {
  EXPECT_GT(p_value_of(joint_law(kData, kTwo, 3, 80), kTwo, pure(3), QuantilesMethod::kAuto, 1500),
            kFalseAlarm);
  EXPECT_GT(
      p_value_of(joint_law(kData, kTwo, 2, 80), kTwo, zcdp(0.5), QuantilesMethod::kAuto, 1500),
      kFalseAlarm);
  EXPECT_GT(
      p_value_of(quantiles_law(kData, kThree, 4), kThree, zcdp(1), QuantilesMethod::kAuto, 100'000),
      kFalseAlarm);
}

TEST(BlockQuantiles, AreDrawnTogether) {
  EXPECT_GT(
      p_value_of(joint_law(kData, kTwo, 3, 80), kTwo, pure(3), QuantilesMethod::kBlocks, 1500),
      kFalseAlarm);
}

// --- The recursion -------------------------------------------------------------------------------

class Recursion {
 public:
  Recursion(const Dataset& data, Quantiles quantiles, RecursionPlan plan)
      : histogram_(histogram_of(data)),
        cells_(data.cells),
        quantiles_(std::move(quantiles)),
        plan_(std::move(plan)) {}

  Cells draw() {
    Cells answers(quantiles_.size());
    draw_recursively(rank_, cells_, quantiles_, plan_, context_, answers);
    return answers;
  }

 private:
  Histogram histogram_;
  SmearedRank rank_{histogram_};
  std::uint64_t cells_;
  Quantiles quantiles_;
  RecursionPlan plan_;
  TestContext context_;
};

TEST(DrawRecursively, DrawsQuantilesBetweenJointCutsOnTheNextLevel) {
  Recursion recursion(kData, kThree, {{2, 3}, {1, 5}});
  EXPECT_GT(
      p_value(joint_then_one_law(kData, kThree, 3, 5, 30), 2000, [&] { return recursion.draw(); }),
      kFalseAlarm);
}

// Deep recursions find every record's cell. The quantiles that a level takes divide the others, and
// those between them get targets of their own.
TEST(DrawRecursively, DrawsAllQuantilesWithAnyNumbersPerLevel) {
  Dataset data{1000, std::vector<std::uint32_t>(1000)};
  std::iota(data.records.begin(), data.records.end(), 0U);
  const std::vector<std::vector<std::uint32_t>> numbers = {{25},         {1, 1, 1, 1, 1}, {2, 2, 2},
                                                           {4, 5},       {8, 2},          {2, 8},
                                                           {1, 2, 1, 2}, {3, 1, 2, 1},    {12, 1}};
  for (const std::vector<std::uint32_t>& level_numbers : numbers) {
    RecursionPlan plan;
    for (const std::uint32_t together : level_numbers) plan.push_back({together, 80});
    const Quantiles quantiles = equally_spaced(25);
    const Cells cells = Recursion(data, quantiles, plan).draw();
    // If m quantiles are drawn together and one misses by k records, F is at least k. As F scales
    // with the misses and lambda is 8, this has a probability of at most
    // (8 k / m)^m e^(m + l - 8 k), where l = min((m + 1) / 2, (m + 1)^2 / 20) is for the lattice. A
    // single quantile has e^(-40 k). Over all plans, the misses of the levels add up to more than
    // 11 with a probability below 10^-7. A cell is up to 1 below its position.
    for (std::size_t i = 0; i < cells.size(); ++i) {
      EXPECT_NEAR(cells[i], quantiles[i] * 1000, 12) << level_numbers.size() << ' ' << i;
    }
  }
}

// The next level draws everything between cuts with its epsilon, which is almost 0 here. So the
// answers are uniform on some 333 cells, and ten draws within 5 cells of the middle have a
// probability below 10^-14.
TEST(DrawRecursively, SpendsTheNextLevelsEpsilonBetweenAllCuts) {
  Dataset data{1000, std::vector<std::uint32_t>(1000)};
  std::iota(data.records.begin(), data.records.end(), 0U);
  const Quantiles quantiles = equally_spaced(5);
  Recursion recursion(data, quantiles, {{2, 80}, {1, 1e-6}});
  std::vector<double> furthest(5);
  for (int draw = 0; draw < 10; ++draw) {
    const Cells cells = recursion.draw();
    for (std::size_t i = 0; i < 5; ++i) {
      furthest[i] = std::max(furthest[i], std::abs(cells[i] - quantiles[i] * 1000));
    }
  }
  for (const std::size_t i : {1U, 3U}) EXPECT_LT(furthest[i], 5);
  for (const std::size_t i : {0U, 2U, 4U}) EXPECT_GT(furthest[i], 5);
}

TEST(DrawRecursively, RefusesAPlanWithTooFewLevels) {
  EXPECT_THROW(Recursion({1ULL << 32, {}}, equally_spaced(9), {{2, 1}, {2, 1}}).draw(),
               std::logic_error);
  EXPECT_NO_THROW(Recursion({1, {0}}, equally_spaced(8), {{2, 1}}).draw());
}

// --- All methods ---------------------------------------------------------------------------------

TEST(DrawQuantiles, IsMonotoneOnTheGridAndInTheOrderAskedForWithEveryMethod) {
  const std::vector<Dataset> datasets = {
      {1, {}}, {2, {0, 1}}, {7, {3, 3, 3}}, {1000, {0, 10, 999}}, {1ULL << 32, {5, 0xffffffff}}};
  const Quantiles quantiles = {0.75, 0, 0.25, 0.25, 1, 0.5, 0.75, -0.0};
  for (const QuantilesMethod method : kMethods) {
    for (const PrivacyParameter& privacy : {pure(1), zcdp(0.5)}) {
      for (const Dataset& data : datasets) {
        QuantilesSampler sampler(data, quantiles, privacy, method);
        for (int i = 0; i < 3; ++i) {
          const Cells c = sampler.draw();
          ASSERT_EQ(c.size(), quantiles.size());
          ASSERT_TRUE(c[1] <= c[2] && c[2] <= c[5] && c[5] <= c[0] && c[0] <= c[4]);
          ASSERT_TRUE(c[1] == c[7] && c[2] == c[3] && c[0] == c[6]);
          ASSERT_LT(c[4], data.cells);
        }
      }
    }
  }
}

// The plan of method auto has two levels for 50 quantiles and three for 51.
TEST(AutoQuantiles, AreAllAnsweredAtTheLimitsOfPlans) {
  Dataset data{10'000, std::vector<std::uint32_t>(10'000)};
  std::iota(data.records.begin(), data.records.end(), 0U);
  for (const std::size_t m : {16U, 17U, 50U, 51U, 124U}) {
    for (const PrivacyParameter& privacy : {pure(10), zcdp(2)}) {
      const Quantiles quantiles = equally_spaced(m);
      const Cells cells = QuantilesSampler(data, quantiles, privacy, QuantilesMethod::kAuto).draw();
      EXPECT_TRUE(std::ranges::is_sorted(cells));
      // One of at most three levels misses by more than 200 with a probability below
      // e^(-0.8 * sqrt(16 / 3) / 2 * 200) n^16 < 10^-15, with a third of rho 2; less with epsilon.
      for (std::size_t i = 0; i < m; ++i) EXPECT_NEAR(cells[i], quantiles[i] * 10'000, 600);
    }
  }
}

TEST(DrawQuantiles, ThrowsOnEveryFailureWithEveryMethod) {
  const Histogram histogram = histogram_of(kData);
  for (const QuantilesMethod method : kMethods) {
    const auto draw = [&](RandomSource& source, CancelPoll::Predicate requested,
                          std::pmr::memory_resource* memory) {
      draw_quantiles(histogram, {method, pure(1), kData.cells, kThree},
                     TestContext(source, requested, memory));
    };
    FailingSource failing;
    CsprngSource good;
    EXPECT_THROW(draw(failing, nullptr, heap()), RandomnessUnavailable);
    const auto stop = [] { return true; };
    EXPECT_THROW(draw(good, stop, heap()), Cancelled);
    EXPECT_THROW(draw(good, nullptr, std::pmr::null_memory_resource()), std::bad_alloc);
  }
}

TEST(JointQuantiles, AreAtMost128DifferentQuantiles) {
  const auto check = [](const Quantiles& quantiles, QuantilesMethod method) {
    check_quantiles_query({method, pure(1), 10, quantiles});
  };
  Quantiles repeated = equally_spaced(128);
  repeated.insert(repeated.end(), 1000, 0.5 / 129 * 2);
  EXPECT_NO_THROW(check(repeated, QuantilesMethod::kJoint));
  EXPECT_NO_THROW(check(equally_spaced(129), QuantilesMethod::kAuto));
  expect_parameter_error(
      "method joint draws at most 128 different quantiles together, got 129",
      "Its time grows with the third power of their number. Method auto takes any "
      "number.",
      [&] { check(equally_spaced(129), QuantilesMethod::kJoint); });
}

// --- What queries cost ---------------------------------------------------------------------------

double rho(const Quantiles& quantiles, const PrivacyParameter& privacy, QuantilesMethod method) {
  return rho_of_quantiles({method, privacy, 10, quantiles});
}

TEST(RhoOfQuantiles, AddsUpOverTheDrawsOfTheMethod) {
  EXPECT_NEAR(rho(equally_spaced(9), pure(0.05), QuantilesMethod::kApproximate),
              4 * 0.0125 * 0.0125 / 8, 1e-15);
  EXPECT_NEAR(rho(equally_spaced(9), pure(2), QuantilesMethod::kJoint), 0.5, 1e-12);
  EXPECT_NEAR(rho(equally_spaced(4), pure(2), QuantilesMethod::kIndependent), 4 * 0.25 / 8, 1e-12);
  EXPECT_NEAR(rho(equally_spaced(9), pure(2), QuantilesMethod::kAuto), 0.5, 1e-12);
  EXPECT_NEAR(rho({0.5, 0.5, 0.5}, pure(2), QuantilesMethod::kIndependent), 0.5, 1e-12);
  for (const QuantilesMethod method : kMethods) {
    EXPECT_EQ(rho(equally_spaced(9), zcdp(0.3), method), 0.3);
  }
}

TEST(RhoOfQuantiles, DependsOnTheNumberOfLevelsOrDraws) {
  const auto joint_rho = [](double epsilon) { return epsilon * epsilon / 8; };
  for (const double epsilon : {0.1, 1.0, 10.0}) {
    for (const auto& [m, levels] :
         {std::pair(1U, 1U), std::pair(3U, 2U), std::pair(4U, 3U), std::pair(19U, 5U)}) {
      const Quantiles quantiles = equally_spaced(m);
      const auto near = [&](QuantilesMethod method, double of_levels) {
        const double found = rho(quantiles, pure(epsilon), method);
        const double expected = std::min(of_levels, rho_of_pure(epsilon));
        EXPECT_GE(found, expected * (1 - 1e-12));
        EXPECT_LE(found, expected * (1 + 1e-12));
      };
      near(QuantilesMethod::kApproximate, joint_rho(epsilon) / levels);
      near(QuantilesMethod::kJoint, joint_rho(epsilon));
      near(QuantilesMethod::kIndependent, joint_rho(epsilon) / m);
    }
  }
}

// The value grid matters only to counts on a tree, and to auto where it uses them.
TEST(RhoOfQuantiles, EqualsTheRhoOfThePlanOrTheTreeForAuto) {
  const auto rho_on = [](std::uint64_t cells, std::size_t m, QuantilesMethod method) {
    return rho_of_quantiles({method, pure(0.5), cells, equally_spaced(m)});
  };
  for (const std::uint64_t cells : {1ULL, 1000ULL, 1ULL << 20}) {
    EXPECT_EQ(rho_on(cells, 1, QuantilesMethod::kTree),
              rho_of_cdf(tree_quantiles_plan(cells, pure(0.5))));
    EXPECT_EQ(rho_on(cells, 50, QuantilesMethod::kTree),
              rho_of_cdf(tree_quantiles_plan(cells, pure(0.5))));
  }
  EXPECT_EQ(rho_on(1000, 17, QuantilesMethod::kAuto),
            rho_of_cdf(tree_quantiles_plan(1000, pure(0.5))));
  EXPECT_NE(rho_on(1000, 17, QuantilesMethod::kAuto), rho_of_plan(best_plan(17, pure(0.5))));
  EXPECT_EQ(rho_on(1000, 16, QuantilesMethod::kAuto), rho_of_plan(best_plan(16, pure(0.5))));
  EXPECT_EQ(rho_on(1 << 20, 17, QuantilesMethod::kAuto), rho_of_plan(best_plan(17, pure(0.5))));
  EXPECT_EQ(rho_on(1 << 20, 200, QuantilesMethod::kAuto), rho_of_plan(best_plan(200, pure(0.5))));
  // The plan for 17 quantiles spends 0.3 and 0.2.
  EXPECT_NEAR(rho_on(1 << 20, 17, QuantilesMethod::kAuto), (0.09 + 0.04) / 8, 1e-12);
}

// --- The default method --------------------------------------------------------------------------

constexpr BudgetTerms kInEpsilon{};
constexpr BudgetTerms kInRho{.in_rho = true};
constexpr BudgetTerms kReplacing{.replaces = true};

TEST(DefaultMethod, DependsOnWhatIsStatedAndOnTheTermsOfTheBudget) {
  const auto chosen = [](const Quantiles& quantiles, const PrivacyParameter& privacy,
                         const BudgetTerms& terms) {
    return default_method({QuantilesMethod::kDefault, privacy, 1000, quantiles}, terms);
  };
  for (const std::size_t m : {2U, 9U, 4096U}) {
    EXPECT_EQ(chosen(equally_spaced(m), pure(1), kInEpsilon), QuantilesMethod::kBlocks);
    EXPECT_EQ(chosen(equally_spaced(m), pure(1), kInRho), QuantilesMethod::kApproximate);
    EXPECT_EQ(chosen(equally_spaced(m), zcdp(1), kInRho), QuantilesMethod::kBlocks);
  }
  EXPECT_EQ(chosen({0.5, 0.5}, pure(1), kInEpsilon), QuantilesMethod::kApproximate);
  // Joint draws use an epsilon up to 16.
  EXPECT_EQ(chosen({0.1, 0.9}, pure(16), kInEpsilon), QuantilesMethod::kBlocks);
  EXPECT_EQ(chosen({0.1, 0.9}, pure(17), kInEpsilon), QuantilesMethod::kApproximate);
  // Theorem 28: a first draw of the quantile 3/4 costs 4/3 of its epsilon, a joint draw twice.
  EXPECT_EQ(chosen({0.25, 0.75}, pure(1), kReplacing), QuantilesMethod::kApproximate);
  EXPECT_EQ(chosen(equally_spaced(9), pure(1), kReplacing), QuantilesMethod::kBlocks);
}

// What a call costs under the terms of the budget that pays.
double price(const Quantiles& quantiles, const PrivacyParameter& privacy, QuantilesMethod method,
             const BudgetTerms& terms) {
  const QuantilesMechanism mechanism({method, privacy, 10, quantiles},
                                     std::pmr::get_default_resource());
  const PrivacyCost& cost = terms.replaces ? mechanism.costs().replacing : mechanism.costs().own;
  return terms.in_rho || !cost.epsilon ? *cost.rho : *cost.epsilon;
}

TEST(DefaultMethod, CostsNoMoreThanApproximate) {
  for (std::size_t m = 1; m <= 200; ++m) {
    const Quantiles quantiles = equally_spaced(m);
    for (const PrivacyParameter& privacy : {pure(0.5), zcdp(0.5)}) {
      for (const bool in_rho : {false, true}) {
        for (const bool replaces : {false, true}) {
          const BudgetTerms terms{in_rho, replaces};
          const QuantilesMethod method =
              default_method({QuantilesMethod::kDefault, privacy, 10, quantiles}, terms);
          EXPECT_LE(price(quantiles, privacy, method, terms),
                    price(quantiles, privacy, QuantilesMethod::kApproximate, terms));
        }
      }
    }
  }
}

// --- The method of auto --------------------------------------------------------------------------

QuantilesMethod resolved(QuantilesMethod method, const PrivacyParameter& privacy,
                         std::uint64_t cells, const Quantiles& quantiles) {
  return resolved_method({method, privacy, cells, quantiles});
}

TEST(ResolvedMethod, IsATreeForAutoWithManyQuantilesOnASmallGrid) {
  const struct {
    std::size_t quantiles;
    std::uint64_t cells;
    bool by_tree;
  } kCases[] = {
      {1, 1, false},       {16, 1, false},       {16, 1024, false},         {17, 1, true},
      {17, 1024, true},    {17, 1025, false},    {99, 1024, true},          {99, 1025, false},
      {99, 32768, false},  {100, 1025, true},    {100, 32768, true},        {100, 32769, false},
      {4096, 32768, true}, {4096, 32769, false}, {4096, 1ULL << 32, false},
  };
  for (const auto& c : kCases) {
    for (const double epsilon : {0.01, 1.0, 100.0}) {
      EXPECT_EQ(
          resolved(QuantilesMethod::kAuto, pure(epsilon), c.cells, equally_spaced(c.quantiles)),
          c.by_tree ? QuantilesMethod::kTree : QuantilesMethod::kAuto)
          << c.quantiles << " quantiles, " << c.cells << " cells";
    }
    for (const double rho : {1e-4, 1.0}) {
      EXPECT_EQ(resolved(QuantilesMethod::kAuto, zcdp(rho), c.cells, equally_spaced(c.quantiles)),
                QuantilesMethod::kAuto);
    }
  }
}

TEST(ResolvedMethod, CountsRepeatedQuantilesOnce) {
  const auto repeated = [](std::size_t m) {
    Quantiles quantiles = equally_spaced(m);
    const Quantiles again(quantiles.rbegin(), quantiles.rend());
    for (int i = 0; i < 7; ++i) quantiles.insert(quantiles.end(), again.begin(), again.end());
    return quantiles;
  };
  EXPECT_EQ(resolved(QuantilesMethod::kAuto, pure(1), 1024, repeated(16)), QuantilesMethod::kAuto);
  EXPECT_EQ(resolved(QuantilesMethod::kAuto, pure(1), 1024, repeated(17)), QuantilesMethod::kTree);
  EXPECT_EQ(resolved(QuantilesMethod::kAuto, pure(1), 1 << 15, repeated(99)),
            QuantilesMethod::kAuto);
  EXPECT_EQ(resolved(QuantilesMethod::kAuto, pure(1), 1 << 15, repeated(100)),
            QuantilesMethod::kTree);
  // 0 and -0 count once.
  Quantiles zeros = equally_spaced(15);
  zeros.insert(zeros.end(), {0.0, -0.0});
  EXPECT_EQ(resolved(QuantilesMethod::kAuto, pure(1), 1024, zeros), QuantilesMethod::kAuto);
}

TEST(ResolvedMethod, KeepsEveryMethodExceptAuto) {
  for (const QuantilesMethod method : {QuantilesMethod::kApproximate, QuantilesMethod::kJoint,
                                       QuantilesMethod::kIndependent, QuantilesMethod::kTree}) {
    for (const PrivacyParameter& privacy : {pure(1), zcdp(0.5)}) {
      for (const std::uint64_t cells : {1ULL, 1024ULL, 1ULL << 32}) {
        for (const std::size_t m : {1U, 17U, 100U}) {
          EXPECT_EQ(resolved(method, privacy, cells, equally_spaced(m)), method);
        }
      }
    }
  }
}

// All records lie in one cell, and there is hardly any noise. Counts on a tree have the least
// record there. Draws have quantile 0 anywhere up to it, and ten of them there with a probability
// of 501^-10.
TEST(AutoQuantiles, AreReadFromATreeWhereThatIsTheMethod) {
  const auto all_there = [](QuantilesMethod method, const PrivacyParameter& privacy,
                            std::uint64_t cells, std::size_t m) {
    Quantiles quantiles = equally_spaced(m - 1);
    quantiles.push_back(0);
    QuantilesSampler sampler({cells, Cells(1000, 500U)}, quantiles, privacy, method);
    for (int draw = 0; draw < 10; ++draw) {
      if (sampler.draw().back() != 500) return false;
    }
    return true;
  };
  EXPECT_TRUE(all_there(QuantilesMethod::kTree, pure(1000), 1024, 2));
  EXPECT_TRUE(all_there(QuantilesMethod::kAuto, pure(1000), 1024, 17));
  EXPECT_FALSE(all_there(QuantilesMethod::kAuto, pure(1000), 1024, 16));
  EXPECT_FALSE(all_there(QuantilesMethod::kAuto, pure(1000), 1025, 17));
  EXPECT_FALSE(all_there(QuantilesMethod::kAuto, zcdp(1000), 1024, 17));
  EXPECT_FALSE(all_there(QuantilesMethod::kApproximate, pure(1000), 1024, 17));
}

TEST(IndependentQuantiles, NeedAnEpsilonForEach) {
  const auto check = [](const PrivacyParameter& privacy, std::size_t m) {
    const Quantiles quantiles = equally_spaced(m);
    check_quantiles_query({QuantilesMethod::kIndependent, privacy, 1024, quantiles});
  };
  EXPECT_NO_THROW(check(pure(1e-6), 10));
  EXPECT_NO_THROW(check(pure(5e-4), kMaxQuantiles));
  expect_parameter_error(
      "method independent needs an epsilon of at least 1e-7 for each quantile, got 5e-08",
      "Every quantile gets an equal part of the epsilon. Ask for fewer quantiles or for more "
      "epsilon, "
      "or take method auto.",
      [&] { check(pure(1e-6), 20); });
  EXPECT_THROW(check(zcdp(1e-12), kMaxQuantiles), ParameterError);
}

TEST(IndependentEpsilon, DividesThePrivacyParameter) {
  EXPECT_DOUBLE_EQ(independent_epsilon(4, pure(2)), 0.5);
  EXPECT_NEAR(independent_epsilon(4, zcdp(2)), 2, 1e-12);
  for (std::size_t m = 1; m <= kMaxQuantiles; ++m) {
    const double each = independent_epsilon(m, zcdp(0.5));
    EXPECT_LE(static_cast<double>(m) * each * each / 8, 0.5);
  }
}

}  // namespace
}  // namespace dpquantile
