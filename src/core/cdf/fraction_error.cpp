#include "core/cdf/fraction_error.hpp"

#include <algorithm>
#include <cmath>

#include "core/prefix_sums/estimate_variance.hpp"
#include "core/privacy/noise_error.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/tree/tree_variance.hpp"

namespace dpquantile {

namespace {

// The variance changes slowly from bin to bin. The margin covers the bins between those looked at.
constexpr std::uint32_t kPoints = 16;
constexpr double kVarianceMargin = 1.01;

// The law of a sum of Laplace noises is between that of one and the Gaussian. For some confidences
// around 92 % it is wider than both, by less than this.
constexpr double kBetweenLaws = 1.01;

using Squares = FractionErrors::Squares;

double fraction_of(std::size_t step) {
  return static_cast<double>(step) / FractionErrors::kSteps;
}

void raise(Squares& squares, std::size_t step, double variance) {
  squares[step] = std::max(squares[step], variance);
}

Squares tree_variances(const CdfPlan& plan, CancelPoll& cancel) {
  const LevelTree tree(plan.bins, plan.branching());
  const std::vector<double> weights = level_weights(plan.privacy.measure, plan.level_budget());
  const PrefixVariance variance(tree, weights);
  Squares squares{};
  for (std::uint32_t k = 1; k <= plan.bins; ++k) {
    cancel.tick();
    const PrefixRelation relation = variance.relation(k);
    for (std::size_t i = 0; i < squares.size(); ++i) {
      raise(squares, i, variance.beyond_fraction(relation, fraction_of(i)));
    }
  }
  return squares;
}

// (1 - q) times what is before the end of bin k, minus q times what is after it.
double beyond_fraction(const EstimateVariance::Variances& at, double total, double q) {
  const double covariance = (total - at.before - at.after) / 2;
  return (1 - q) * (1 - q) * at.before + q * q * at.after - 2 * q * (1 - q) * covariance;
}

Squares factorization_variances(const CdfPlan& plan, const Workspace& work) {
  const PrefixFactorization factorization(plan.bins, work.memory);
  const EstimateVariance variance(factorization, work.memory);
  const uint128_t noise = vector_noise_variance(plan.privacy.value, factorization.sensitivity());
  const double unit = kVarianceMargin * static_cast<double>(noise);
  const double total = variance.at(plan.bins - 1).before;
  Squares squares{};
  for (std::uint32_t point = 0; point <= kPoints; ++point) {
    work.cancel.check();
    const std::uint64_t k = point * std::uint64_t{plan.bins - 1} / kPoints;
    const auto at_point = variance.at(static_cast<std::uint32_t>(k));
    for (std::size_t i = 0; i < squares.size(); ++i) {
      raise(squares, i, unit * beyond_fraction(at_point, total, fraction_of(i)));
    }
  }
  return squares;
}

// How many standard deviations cover a sum of noises.
double deviations(PrivacyMeasure measure, double confidence) {
  const double one[] = {1};
  const double gaussian = noise_quantile(PrivacyMeasure::kZcdp, one, 1 - confidence);
  if (measure == PrivacyMeasure::kZcdp) return gaussian;
  const double laplace = noise_quantile(PrivacyMeasure::kPure, one, 1 - confidence);
  return kBetweenLaws * std::max(gaussian, laplace / std::sqrt(2.0));
}

}  // namespace

FractionErrors fraction_errors(const CdfPlan& plan, double confidence, const Workspace& work) {
  check_confidence(confidence);
  Squares squares = plan.method == CdfMethod::kFactorization ? factorization_variances(plan, work)
                                                             : tree_variances(plan, work.cancel);
  const double factor = deviations(plan.privacy.measure, confidence);
  for (double& square : squares) square *= factor * factor;
  return FractionErrors(squares);
}

}  // namespace dpquantile
