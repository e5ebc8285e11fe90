#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cdf/cdf.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "support/claim.hpp"
#include "support/context_testing.hpp"
#include "support/prefix_factorization_testing.hpp"
#include "support/privacy_loss.hpp"

// Tries to refute that release_cdf with method factorization is rho-zCDP for adding or removing one
// record. The release is a function of the noisy sums, whose law is known: independent discrete
// Gaussians around the sums. So:
//
// - The Renyi divergences of the exact laws of neighbours must not exceed rho times their order.
// - The measured sums must have that law, each of them.
// - No half-space of measured sums may be more likely than the (epsilon, delta) that follow from
//   rho allow. The half-space is the worst one for Gaussian noise.
namespace dpquantile {
namespace {

using test::certain_delta;
using test::columns_of;
using test::fit_p_value;
using test::heap;
using test::kFalseAlarm;
using test::Sample;
using test::take_sample;
using test::TestContext;

using Real = long double;
using Counts = std::vector<std::uint64_t>;
using Column = std::vector<std::int64_t>;

constexpr double kRhos[] = {0.005, 0.1, 0.5, 2};
constexpr Real kOrders[] = {1.001L, 1.5L, 2, 8, 32};

// --- The exact law -------------------------------------------------------------------------------

// The Renyi divergence of order alpha between a discrete Gaussian and the same one shifted by a
// whole number, divided by alpha. The shifted law is summed over every multiple of `stride`, which
// changes nothing while the stride is far below sigma (Poisson summation).
Real divergence(Real variance, Real shift, Real alpha) {
  const Real sigma = std::sqrt(variance);
  const Real stride = std::max<Real>(1, std::floor(sigma / 8));
  const auto reach = static_cast<std::int64_t>(std::ceil((14 * sigma + alpha * shift) / stride));
  Real moment = 0;
  Real total = 0;
  for (std::int64_t i = -reach; i <= reach; ++i) {
    const Real y = static_cast<Real>(i) * stride;
    const Real zero = -y * y / (2 * variance);
    const Real one = -(y - shift) * (y - shift) / (2 * variance);
    moment += std::exp(alpha * zero + (1 - alpha) * one);
    total += std::exp(zero);
  }
  return std::log(moment / total) / (alpha - 1) / alpha;
}

// The largest over orders of the divergence between the noisy sums of neighbours that differ in a
// record with this column.
Real loss(const Column& column, Real variance) {
  Real largest = 0;
  for (const Real alpha : kOrders) {
    Real sum = 0;
    for (const std::int64_t shift : column) {
      if (shift != 0) sum += divergence(variance, static_cast<Real>(shift), alpha);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

TEST(ExactFactorizedCdfLaw, KeepsRhoAndNoSmallerRhoForARecordInAnyBin) {
  for (const std::uint32_t bins : {1U, 2U, 3U, 8U, 20U}) {
    const PrefixFactorization factorization(bins, heap());
    for (const double rho : kRhos) {
      const auto variance =
          static_cast<Real>(vector_noise_variance(rho, factorization.sensitivity()));
      for (const Column& column : columns_of(factorization)) {
        const Real certain = loss(column, variance);
        EXPECT_LE(certain, rho * (1 + 1e-9L)) << bins << " " << rho;
        EXPECT_GT(certain, 0.97L * rho) << bins << " " << rho;
      }
    }
  }
}

// Mutants: noise for nine tenths of the sensitivity, and columns that are not scaled to one norm.
TEST(ExactFactorizedCdfLaw, IsRefutedWithTooLittleNoise) {
  constexpr std::uint32_t kBins = 20;
  const PrefixFactorization factorization(kBins, heap());
  const auto columns = columns_of(factorization);
  for (const double rho : kRhos) {
    const auto variance =
        static_cast<Real>(vector_noise_variance(rho, factorization.sensitivity()));
    EXPECT_GT(loss(columns.back(), 0.81L * variance), rho);
    Column unscaled = columns.front();
    for (std::int64_t& value : unscaled) {
      value = value * factorization.weights()[kBins - 1] / factorization.weights()[0];
    }
    EXPECT_GT(loss(unscaled, variance), 1.5L * rho);
  }
}

// --- Measured sums -------------------------------------------------------------------------------

// Draws of noisy_measurements(). A mutant leaves out the noise of one sum, or draws it for a
// larger rho.
class Measurements {
 public:
  Measurements(Counts counts, double rho)
      : counts_(std::move(counts)),
        cdf_(choose_cdf_plan(CdfMethod::kFactorization, static_cast<std::uint32_t>(counts_.size()),
                             zcdp(rho))) {}

  std::vector<double> draw() {
    const auto noisy = noisy_measurements(counts_, cdf_, context_);
    return {noisy.begin(), noisy.end()};
  }

 private:
  Counts counts_;
  PreparedCdf cdf_;
  TestContext context_;
};

constexpr int kCells = 16;

// The cell of x sigmas: half a sigma wide, the outer ones open.
std::size_t cell_of(double x) {
  return static_cast<std::size_t>(std::clamp(std::floor(2 * x) + kCells / 2.0, 0.0, kCells - 1.0));
}

std::vector<Real> law_of_cells() {
  const auto below = [](int cell) { return std::erfc(-(cell - kCells / 2) / std::sqrt(8.0L)) / 2; };
  std::vector<Real> law;
  for (int i = 0; i < kCells; ++i) {
    law.push_back((i + 1 == kCells ? 1 : below(i + 1)) - (i == 0 ? 0 : below(i)));
  }
  return law;
}

// The noise has thousands of units, so the cells of the discrete law have the probabilities of the
// real one up to 10^-4, too little to be seen in these draws.
double noise_p_value(Measurements& measurements, const Counts& counts, std::size_t i, double rho) {
  const PrefixFactorization factorization(static_cast<std::uint32_t>(counts.size()), heap());
  const auto exact = factorization.measure(counts, heap());
  const double sigma =
      std::sqrt(static_cast<double>(vector_noise_variance(rho, factorization.sensitivity())));
  const Sample sample = take_sample(kCells, 10'000, [&] {
    return cell_of((measurements.draw()[i] - static_cast<double>(exact[i])) / sigma);
  });
  return fit_p_value(sample, law_of_cells());
}

TEST(FactorizedCdfMeasurements, HaveTheNoiseOfTheirLawInEverySum) {
  const Counts counts = {3, 0, 7, 100, 1, 0, 2, 5};
  for (const double rho : kRhos) {
    Measurements measurements(counts, rho);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_GT(noise_p_value(measurements, counts, i, rho), kFalseAlarm) << rho << " " << i;
    }
    Measurements louder(counts, rho / 2);
    EXPECT_LT(noise_p_value(louder, counts, 0, rho), kFalseAlarm) << rho;
  }
}

// --- Events --------------------------------------------------------------------------------------

// The likelihood ratio of Gaussian neighbours depends on the projection of the sums on the column
// of the added record. `missing` is a sum without noise, as in a mutant, or none.
Sample projections(const Counts& counts, const Counts& centre, std::uint32_t added, double spent,
                   double claimed, std::size_t missing) {
  const PrefixFactorization factorization(static_cast<std::uint32_t>(counts.size()), heap());
  const Column column = columns_of(factorization)[added];
  const auto exact = factorization.measure(counts, heap());
  const auto origin = factorization.measure(centre, heap());
  const double sigma =
      std::sqrt(static_cast<double>(vector_noise_variance(claimed, factorization.sensitivity())));
  Measurements measurements(counts, spent);
  return take_sample(kCells, 40'000, [&] {
    std::vector<double> noisy = measurements.draw();
    if (missing < noisy.size()) noisy[missing] = static_cast<double>(exact[missing]);
    double projection = 0;
    for (std::size_t i = 0; i < noisy.size(); ++i) {
      // Without noise a sum tells all: the event takes it with a large weight.
      const double weight = i == missing ? 1e6 : 1;
      projection +=
          weight * static_cast<double>(column[i]) * (noisy[i] - static_cast<double>(origin[i]));
    }
    return cell_of(projection / static_cast<double>(factorization.sensitivity()) / sigma);
  });
}

// By how much the bound on delta exceeds the claim.
double excess(std::uint32_t added, double rho, double spent, std::size_t missing = 1000) {
  const Counts counts = {3, 0, 7, 100, 1};
  Counts larger = counts;
  ++larger[added];
  const test::Claim claim = test::claim_of(zcdp(rho));
  return certain_delta(projections(counts, counts, added, spent, rho, missing),
                       projections(larger, counts, added, spent, rho, missing), claim.epsilon,
                       kFalseAlarm) -
         claim.delta;
}

TEST(FactorizedCdfMeasurements, KeepDeltaInDraws) {
  for (const double rho : {0.1, 0.5, 2.0}) {
    for (const std::uint32_t added : {0U, 2U, 4U}) {
      EXPECT_LE(excess(added, rho, rho), 0) << rho << " " << added;
    }
  }
}

TEST(FactorizedCdfMeasurements, AreRefutedWithHalfTheNoiseOrWithoutThatOfOneSum) {
  for (const double rho : {0.1, 0.5}) {
    EXPECT_GT(excess(0, rho, 4 * rho), 0) << rho;
    EXPECT_GT(excess(2, rho, rho, 4), 0) << rho;
  }
}

}  // namespace
}  // namespace dpquantile
