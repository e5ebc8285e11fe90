#include "core/cdf/factorization_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/prefix_sums/estimate_variance.hpp"
#include "core/privacy/noise_parameter.hpp"

namespace dpquantile {

namespace {

// The variance of a prefix changes slowly from bin to bin, and is largest near the middle. So a few
// bins tell it; the margin covers the bins between them.
constexpr std::uint32_t kPoints = 8;
constexpr double kVarianceMargin = 1.01;

// Errors of this standard deviation at `bins` bins.
struct Errors {
  double bins;
  double deviation;
};

// The sum of the probabilities that one of the errors exceeds `bound` in size.
double tails(std::span<const Errors> errors, double bound) {
  double sum = 0;
  for (const auto& [bins, deviation] : errors) {
    sum += bins * std::erfc(bound / (deviation * std::sqrt(2.0)));
  }
  return sum;
}

// The least bound for which tails() is at most `most`.
double bound_of(std::span<const Errors> errors, double most) {
  double low = 0;
  double high = 1;
  while (tails(errors, high) > most) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (tails(errors, middle) > most ? low : high) = middle;
  }
  return high;
}

double deviation(double unit, double variance) {
  return unit * std::sqrt(kVarianceMargin * variance);
}

}  // namespace

CdfError bound_factorization_error(const CdfPlan& plan, double confidence, const Workspace& work) {
  const PrefixFactorization factorization(plan.bins, work.memory);
  const EstimateVariance variance(factorization, work.memory);
  const uint128_t noise = vector_noise_variance(plan.privacy.value, factorization.sensitivity());
  const double unit = std::sqrt(static_cast<double>(noise));

  std::vector<Errors> before;
  std::vector<Errors> both;
  EstimateVariance::Variances largest{0, 0};
  for (std::uint32_t i = 0; i < kPoints; ++i) {
    work.cancel.check();
    const std::uint64_t k = (2 * i + 1) * std::uint64_t{plan.bins} / (2 * kPoints);
    const auto at_point = variance.at(static_cast<std::uint32_t>(k));
    before.push_back({1.0 / kPoints, deviation(unit, at_point.before)});
    both.push_back(before.back());
    both.push_back({1.0 / kPoints, deviation(unit, at_point.after)});
    largest.before = std::max(largest.before, at_point.before);
    largest.after = std::max(largest.after, at_point.after);
  }
  const double bins = plan.bins;
  const std::vector<Errors> all_before{{bins, deviation(unit, largest.before)}};
  const std::vector<Errors> all_both{all_before.front(), {bins, deviation(unit, largest.after)}};

  // Rounding to whole rows, as in simulate_cdf_error().
  const double missed = 1 - confidence;
  return {std::floor(bound_of(before, missed) + 0.5), bound_of(both, missed) + 1,
          std::floor(bound_of(all_before, missed) + 0.5), bound_of(all_both, missed) + 1};
}

}  // namespace dpquantile
