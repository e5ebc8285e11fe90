#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <numeric>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/cdf/cdf.hpp"
#include "core/cdf/cdf_curve.hpp"
#include "support/context_testing.hpp"

// Helpers for all tests of CDFs.
namespace dpquantile::test {

using Branching = std::vector<std::uint32_t>;
using Cumulative = std::vector<std::int64_t>;

inline constexpr std::array kCdfMethods = {CdfMethod::kTree, CdfMethod::kBinary,
                                           CdfMethod::kHistogram};

// Parameters of both measures, from far more noise than any count to hardly any noise.
inline const std::vector<PrivacyParameter> kAllPrivacies = {
    pure(1e-6),  pure(0.1),  pure(1.0 / 3), pure(3),   pure(1000),  //
    zcdp(1e-12), zcdp(1e-4), zcdp(1.0 / 3), zcdp(0.5), zcdp(1000),
};

// A plan with this tree and these parts of epsilon or rho for its levels.
inline CdfPlan cdf_plan(std::uint32_t bins, const Branching& branching,
                        const std::vector<double>& level_budgets,
                        PrivacyMeasure measure = PrivacyMeasure::kPure) {
  const auto levels = static_cast<std::uint32_t>(branching.size());
  CdfPlan plan{CdfMethod::kTree, bins, {measure, 0}, levels, {}, {}};
  std::ranges::copy(branching, plan.branchings.begin());
  std::ranges::copy(level_budgets, plan.level_budgets.begin());
  plan.privacy.value = std::accumulate(level_budgets.begin(), level_budgets.end(), 0.0);
  return plan;
}

inline CdfCurve cdf_curve(const CdfDomain& domain, const CdfPlan& plan,
                          const Cumulative& cumulative) {
  return CdfCurve(domain, plan, {cumulative.begin(), cumulative.end(), heap()});
}

// Independent releases of the mechanism under test for one dataset.
class CdfSampler {
 public:
  CdfSampler(std::vector<std::uint64_t> counts, const CdfPlan& plan)
      : counts_(std::move(counts)), cdf_(plan) {}

  std::pmr::vector<std::int64_t> draw() { return release_cdf(counts_, cdf_, context_); }

 private:
  std::vector<std::uint64_t> counts_;
  PreparedCdf cdf_;
  TestContext context_;
};

// The discrete Gaussian distribution: P[y] is proportional to e^(-y^2 rho), with the variance
// parameter 1 / (2 rho). The sum over all integers is a series of the theta function. There is one
// series in rho and one in its inverse, and the code uses the one that converges faster.
inline long double gaussian_probability(long double rho, std::int64_t y) {
  constexpr long double kPi = 3.141592653589793238462643L;
  const bool wide = rho < 1;
  const long double exponent = wide ? kPi * kPi / rho : rho;
  long double total = 1;
  for (int k = 1; k <= 10; ++k) total += 2 * std::exp(-exponent * k * k);
  if (wide) total *= std::sqrt(kPi / rho);
  const auto distance = static_cast<long double>(y);
  return std::exp(-distance * distance * rho) / total;
}

// The discrete Laplace distribution: P[y] is proportional to e^(-|y| epsilon).
inline long double laplace_probability(long double epsilon, std::int64_t y) {
  return std::tanh(epsilon / 2) * std::exp(-epsilon * static_cast<long double>(std::abs(y)));
}

// The probability that the noise of a level with this budget is y.
inline long double noise_probability(PrivacyMeasure measure, long double budget, std::int64_t y) {
  return measure == PrivacyMeasure::kPure ? laplace_probability(budget, y)
                                          : gaussian_probability(budget, y);
}

}  // namespace dpquantile::test
