#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/cdf/cdf.hpp"
#include "core/privacy/zcdp.hpp"
#include "support/dataset.hpp"
#include "support/quantiles_law.hpp"

// Tries to refute the rho that the mechanisms are charged. The Renyi divergences of exact laws for
// neighbours, at many orders, must not exceed it, and those of a mechanism with half the noise
// must exceed it. Other tests show that the mechanisms have these laws.
namespace dpquantile {
namespace {

using test::Dataset;
using test::Law;
using test::quantiles_law;
using test::Real;

using Quantiles = std::vector<double>;

constexpr Real kOrders[] = {1.01L, 1.1L, 1.5L, 2, 3, 5, 10, 30, 100, 1000};

// For each outcome its probabilities under both laws.
using Pairs = std::vector<std::pair<Real, Real>>;

// The rho that the Renyi divergence of order alpha needs: the divergence divided by alpha. The
// larger of both directions.
Real rho_at(const Pairs& pairs, Real alpha) {
  Real forth = 0;
  Real back = 0;
  for (const auto& [p, q] : pairs) {
    forth += q * std::exp(alpha * std::log(p / q));
    back += p * std::exp(alpha * std::log(q / p));
  }
  return std::log(std::max(forth, back)) / (alpha * (alpha - 1));
}

Real largest_rho(const Pairs& pairs) {
  Real largest = 0;
  for (const Real alpha : kOrders) largest = std::max(largest, rho_at(pairs, alpha));
  return largest;
}

// --- Quantiles -----------------------------------------------------------------------------------

Pairs outcomes(const Dataset& data, std::uint32_t added, const Quantiles& quantiles, Real epsilon) {
  Dataset larger = data;
  larger.records.push_back(added);
  const Law law = quantiles_law(data, quantiles, epsilon);
  const Law neighbour = quantiles_law(larger, quantiles, epsilon);
  Pairs pairs;
  for (const auto& [cells, probability] : law) pairs.emplace_back(probability, neighbour.at(cells));
  return pairs;
}

double charged(const Quantiles& quantiles, double epsilon) {
  const int depth = test::levels(quantiles.size());
  return depth * rho_of_bounded_range(epsilon / depth);
}

const std::vector<Quantiles> kQuantiles = {{0.5},        {0},    {0.3},
                                           {0.25, 0.75}, {0, 1}, {0.25, 0.5, 0.75}};

// All multisets of `records` cells out of 0, 1 and 2.
std::vector<Dataset> small_data(std::uint32_t records) {
  std::vector<Dataset> all;
  for (std::uint32_t low = 0; low <= records; ++low) {
    for (std::uint32_t middle = 0; low + middle <= records; ++middle) {
      Dataset data{3, {}};
      data.records.insert(data.records.end(), low, 0);
      data.records.insert(data.records.end(), middle, 1);
      data.records.insert(data.records.end(), records - low - middle, 2);
      all.push_back(data);
    }
  }
  return all;
}

// For the numerical integration of the laws, and for the division by alpha - 1.
constexpr Real kError = 1e-9L;

TEST(ZcdpOfQuantiles, KeepsRhoOnAllSmallData) {
  for (std::uint32_t records = 0; records <= 3; ++records) {
    for (const Dataset& data : small_data(records)) {
      for (std::uint32_t added = 0; added < 3; ++added) {
        for (const Quantiles& quantiles : kQuantiles) {
          for (const double epsilon : {0.3, 3.0}) {
            ASSERT_LE(largest_rho(outcomes(data, added, quantiles, epsilon)),
                      charged(quantiles, epsilon) + kError)
                << records << " " << added << " " << quantiles.size() << " " << epsilon;
          }
        }
      }
    }
  }
}

// The worst data: a record added at the left makes everything left of the only other record as much
// more likely as it makes everything right of it less likely.
TEST(ZcdpOfQuantiles, IsRefutedWithHalfTheNoise) {
  const Dataset data{41, {20}};
  const Quantiles median = {0.5};
  for (const double epsilon : {0.3, 1.0}) {
    const Real rho = largest_rho(outcomes(data, 0, median, epsilon));
    EXPECT_LE(rho, charged(median, epsilon));
    EXPECT_GT(rho, 0.9 * charged(median, epsilon));
    EXPECT_GT(largest_rho(outcomes(data, 0, median, 1.1 * epsilon)), charged(median, epsilon));
    EXPECT_GT(largest_rho(outcomes(data, 0, median, 2 * epsilon)), charged(median, epsilon));
  }
}

// --- Counts --------------------------------------------------------------------------------------

// A count with discrete Laplace noise of scale 1/epsilon, for counts that differ by one. Has the
// outcomes with a probability above about e^-200.
Pairs noisy_counts(Real epsilon) {
  const int range = static_cast<int>(200 / epsilon);
  const Real factor = std::tanh(epsilon / 2);
  Pairs pairs;
  for (int y = -range; y <= range; ++y) {
    pairs.emplace_back(factor * std::exp(-epsilon * static_cast<Real>(std::abs(y))),
                       factor * std::exp(-epsilon * static_cast<Real>(std::abs(y - 1))));
  }
  return pairs;
}

TEST(ZcdpOfCounts, KeepsRhoAndNoSmallerRho) {
  for (const double epsilon : {0.05, 0.3, 1.0, 3.0}) {
    const Pairs pairs = noisy_counts(epsilon);
    EXPECT_LE(largest_rho(pairs), rho_of_pure(epsilon) + 1e-15L) << epsilon;
    EXPECT_GE(rho_at(pairs, 1.001L), 0.99L * rho_of_pure(epsilon)) << epsilon;
    // The bound for real Laplace noise does not hold for noise on integers.
    EXPECT_GT(rho_at(pairs, 1.001L), epsilon + std::expm1(-static_cast<Real>(epsilon))) << epsilon;
    EXPECT_GT(largest_rho(noisy_counts(2 * epsilon)), rho_of_pure(epsilon)) << epsilon;
  }
}

// A record is in one node on each level of a CDF's tree, so the divergences of the levels add up.
TEST(ZcdpOfCdf, KeepsTheSumOfTheRhosOfItsLevels) {
  for (const CdfMethod method : {CdfMethod::kTree, CdfMethod::kBinary, CdfMethod::kHistogram}) {
    const CdfPlan plan = choose_cdf_plan(method, 64, pure(1));
    double rho = 0;
    for (const double epsilon : plan.level_budget()) rho += rho_of_pure(epsilon);
    for (const Real alpha : kOrders) {
      Real sum = 0;
      for (const double epsilon : plan.level_budget()) sum += rho_at(noisy_counts(epsilon), alpha);
      EXPECT_LE(sum, rho) << cdf_method_name(method);
    }
    EXPECT_LE(rho, rho_of_pure(1)) << cdf_method_name(method);
  }
}

}  // namespace
}  // namespace dpquantile
