#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/privacy/privacy_cost.hpp"
#include "core/quantiles/quantiles.hpp"
#include "support/context_testing.hpp"
#include "support/dataset.hpp"
#include "support/joint_law.hpp"
#include "support/privacy_loss.hpp"
#include "support/quantiles_law.hpp"

// Tries to refute what budgets with neighbours "replace" are charged. Exact laws of data that
// differ in the value of one record, or in its presence, must not lose more than the charge; other
// tests show that the mechanisms have these laws. And in the worst cases they lose nearly all of
// it, so that a smaller charge would be refuted.
namespace dpquantile {
namespace {

using test::Dataset;
using test::exact_loss;
using test::exact_range;
using test::exact_renyi_divergence;
using test::heap;
using test::Law;
using test::quantiles_law;
using test::Real;

using Quantiles = std::vector<double>;
using Probabilities = std::vector<long double>;

// For the numerical integration of the laws.
constexpr Real kRounding = 1e-9L;

// --- Quantiles -----------------------------------------------------------------------------------

PrivacyCost replacing_cost(const Quantiles& quantiles, double epsilon,
                           QuantilesMethod method = QuantilesMethod::kApproximate) {
  constexpr std::uint64_t kCells = 1 << 20;
  return QuantilesMechanism({method, pure(epsilon), kCells, quantiles}, heap()).costs().replacing;
}

// The probabilities of all answers under both laws, in one order.
std::pair<Probabilities, Probabilities> paired(const Law& law, const Law& neighbour) {
  std::pair<Probabilities, Probabilities> pair;
  for (const auto& [cells, probability] : law) {
    pair.first.push_back(probability);
    pair.second.push_back(neighbour.at(cells));
  }
  return pair;
}

std::pair<Probabilities, Probabilities> laws(const Dataset& data, const Dataset& neighbour,
                                             const Quantiles& quantiles, double epsilon) {
  return paired(quantiles_law(data, quantiles, epsilon),
                quantiles_law(neighbour, quantiles, epsilon));
}

// All multisets of `records` cells on the value grid.
std::vector<Dataset> datasets_of_size(std::uint64_t cells, std::size_t records) {
  if (records == 0) return {{cells, {}}};
  std::vector<Dataset> larger;
  for (const Dataset& data : datasets_of_size(cells, records - 1)) {
    for (std::uint32_t cell = data.records.empty() ? 0 : data.records.back(); cell < cells;
         ++cell) {
      larger.push_back(data);
      larger.back().records.push_back(cell);
    }
  }
  return larger;
}

// Calls visit(data, neighbour) for all data with at most `most` records on a few cells, and all
// neighbours: one record has another value, or is missing.
template <class Visit>
void for_each_replacement(std::uint64_t cells, std::size_t most, Visit visit) {
  for (std::size_t records = 1; records <= most; ++records) {
    for (const Dataset& others : datasets_of_size(cells, records - 1)) {
      for (std::uint32_t value = 0; value < cells; ++value) {
        Dataset data = others;
        data.records.push_back(value);
        visit(data, others);
        for (std::uint32_t other = 0; other < value; ++other) {
          Dataset neighbour = others;
          neighbour.records.push_back(other);
          visit(data, neighbour);
        }
      }
    }
  }
}

TEST(ReplacingOneQuantile, KeepsTheChargeAndItsBoundedRangeOnAllSmallData) {
  for_each_replacement(4, 4, [](const Dataset& data, const Dataset& neighbour) {
    for (const double q : {0.0, 0.1, 0.3, 0.5, 0.9, 1.0}) {
      for (const double epsilon : {0.5, 3.0}) {
        const auto [law, other] = laws(data, neighbour, {q}, epsilon);
        ASSERT_LE(exact_loss(law, other), *replacing_cost({q}, epsilon).epsilon + kRounding);
        ASSERT_LE(exact_range(law, other), *replacing_cost({q}, epsilon).epsilon + kRounding);
      }
    }
  });
}

TEST(ReplacingSeveralQuantiles, KeepsTheChargeOnAllSmallData) {
  for_each_replacement(3, 3, [](const Dataset& data, const Dataset& neighbour) {
    for (const Quantiles& quantiles : {Quantiles{0.8, 0.95}, {0.25, 0.75}, {0.7, 0.8, 0.9}}) {
      constexpr double kEpsilon = 2;
      const auto [law, other] = laws(data, neighbour, quantiles, kEpsilon);
      const PrivacyCost charged = replacing_cost(quantiles, kEpsilon);
      ASSERT_LE(exact_loss(law, other), *charged.epsilon + kRounding);
      for (const Real alpha : {1.01L, 1.5L, 3.0L, 20.0L}) {
        ASSERT_LE(exact_renyi_divergence(law, other, alpha), alpha * *charged.rho + kRounding);
      }
    }
  });
}

// Nine of ten records are in the lowest cell, the last is near the upper end: for q = 9/10 the
// target is everywhere between. One record moves from the lowest to the highest cell. That makes
// what lies between less likely by a factor, and what lies behind the last record as much more.
std::pair<Dataset, Dataset> worst_data(std::uint64_t cells, std::size_t low, std::size_t high) {
  const auto last = static_cast<std::uint32_t>(cells - 1);
  Dataset data{cells, std::vector<std::uint32_t>(low, 0)};
  data.records.insert(data.records.end(), high, last - 2);
  Dataset neighbour = data;
  neighbour.records[0] = last;
  return {data, neighbour};
}

// A charge of epsilon, and one of 0.99 times what is charged, are refuted.
TEST(ReplacingOneQuantile, LosesAlmostAllOfTheCharge) {
  const std::vector<std::pair<double, std::pair<std::size_t, std::size_t>>> worst = {
      {0.9, {9, 1}}, {0.75, {3, 1}}, {0.5, {1, 1}}};
  for (const auto& [q, records] : worst) {
    const auto [data, neighbour] = worst_data(1000, records.first, records.second);
    for (const double epsilon : {0.1, 1.0, 3.0}) {
      const auto [law, other] = laws(data, neighbour, {q}, epsilon);
      const double charged = *replacing_cost({q}, epsilon).epsilon;
      EXPECT_NEAR(charged, epsilon / q, 1e-9);
      EXPECT_LE(exact_loss(law, other), charged);
      EXPECT_GT(exact_loss(law, other), 0.99L * charged) << q << " " << epsilon;
      EXPECT_GT(exact_loss(law, other), 1.09L * epsilon) << q << " " << epsilon;
    }
  }
}

// As bounded range the charge in rho is a quarter of that of an (epsilon / M)-differentially
// private mechanism. A record moves from the highest to the lowest cell: left of the other record
// is now as likely as right of it was before.
TEST(ReplacingOneQuantile, KeepsRhoAndReachesIt) {
  for (const double epsilon : {0.3, 1.0}) {
    const auto [law, other] = laws({1001, {500, 1000}}, {1001, {0, 500}}, {0.5}, epsilon);
    const double charged = *replacing_cost({0.5}, epsilon).rho;
    Real largest = 0;
    for (const Real alpha : {1.01L, 1.1L, 1.5L, 3.0L, 20.0L}) {
      largest = std::max(largest, exact_renyi_divergence(law, other, alpha) / alpha);
    }
    EXPECT_LE(largest, charged);
    EXPECT_GT(largest, 0.9L * charged) << epsilon;
  }
}

// --- Independent noise on several counts ---------------------------------------------------------

// The law of one count with discrete Laplace noise, and that of the count moved by `change`.
std::pair<Probabilities, Probabilities> laplace_laws(Real epsilon_per_unit, int change) {
  constexpr int kReach = 400;
  std::pair<Probabilities, Probabilities> pair;
  const auto at = [&](int y) {
    return std::exp(-epsilon_per_unit * std::abs(static_cast<Real>(y)));
  };
  const Real all = (1 + std::exp(-epsilon_per_unit)) / (1 - std::exp(-epsilon_per_unit));
  for (int y = -kReach; y <= kReach; ++y) {
    pair.first.push_back(at(y) / all);
    pair.second.push_back(at(y - change) / all);
  }
  return pair;
}

// A record that is replaced takes away u and adds v: in the first coordinate `first` units, in the
// second all others, out of `units`. The divergences of independent coordinates add up.
TEST(ReplacingInAVector, KeepsTwiceRhoAndReachesIt) {
  constexpr int kUnits = 4;
  for (const Real epsilon : {0.5L, 1.0L, 4.0L}) {
    const PrivacyCost charged =
        vector_noise_costs(pure_cost(static_cast<double>(epsilon))).replacing;
    EXPECT_EQ(*charged.epsilon, 2 * static_cast<double>(epsilon));
    for (int lost = 0; lost <= kUnits; ++lost) {
      for (int won = 0; won <= kUnits; ++won) {
        const int first = won - lost;
        const int second = (kUnits - won) - (kUnits - lost);
        for (const Real alpha : {1.001L, 1.5L, 3.0L, 50.0L}) {
          Real divergence = 0;
          for (const int change : {first, second}) {
            const auto [law, other] = laplace_laws(epsilon / kUnits, change);
            divergence += exact_renyi_divergence(law, other, alpha);
          }
          EXPECT_LE(divergence, alpha * *charged.rho + 1e-6L);
        }
      }
    }
    const auto [law, other] = laplace_laws(epsilon, 1);
    const Real reached = 2 * exact_renyi_divergence(law, other, 1.001L);
    EXPECT_GT(reached, 0.99L * *charged.rho) << epsilon;
  }
}

// --- Groups --------------------------------------------------------------------------------------

// The logarithm of the ratio of probabilities that two independent groups reach together: the row
// leaves the one and enters the other, and the noise of each is its own.
Real loss_of_two(const std::pair<Probabilities, Probabilities>& left,
                 const std::pair<Probabilities, Probabilities>& entered) {
  return exact_loss(left.first, left.second) + exact_loss(entered.first, entered.second);
}

// What a query without groups is charged, epsilon for a count and 1.11 epsilon for the quantile
// 0.9, is refuted.
TEST(ReplacingInGroups, ACountReachesTwiceItsOwnCost) {
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    const ReleaseCosts alone = same_costs(pure_cost(epsilon));
    const Real reached = loss_of_two(laplace_laws(epsilon, -1), laplace_laws(epsilon, 1));
    EXPECT_LE(reached, *costs_in_groups(alone).replacing.epsilon + 1e-9);
    EXPECT_GT(reached, 0.99 * *costs_in_groups(alone).replacing.epsilon);
    EXPECT_GT(reached, 1.9 * *alone.replacing.epsilon);
  }
}

TEST(ReplacingInGroups, AQuantileKeepsTwiceItsOwnCostAndExceedsThatOfOneGroup) {
  constexpr std::uint64_t kCells = 1000;
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    const Quantiles quantile = {0.9};
    const ReleaseCosts alone =
        QuantilesMechanism({QuantilesMethod::kApproximate, pure(epsilon), kCells, quantile}, heap())
            .costs();
    const Dataset group{kCells, std::vector<std::uint32_t>(9, 0)};
    Dataset with_row = group;
    with_row.records.push_back(kCells - 1);
    const Real reached =
        loss_of_two(laws(with_row, group, {0.9}, epsilon), laws(group, with_row, {0.9}, epsilon));
    EXPECT_LE(reached, *costs_in_groups(alone).replacing.epsilon + kRounding);
    EXPECT_GT(reached, 1.1 * *alone.replacing.epsilon) << epsilon;
  }
}

}  // namespace
}  // namespace dpquantile
