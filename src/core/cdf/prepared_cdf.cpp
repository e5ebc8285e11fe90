#include "core/cdf/prepared_cdf.hpp"

#include <memory_resource>
#include <utility>

#include "core/privacy/noise_parameter.hpp"

namespace dpquantile {

namespace {

// The noise of a count to which a record adds 1.
NoiseTable noise_of_level(const PrivacyParameter& budget) {
  if (budget.measure == PrivacyMeasure::kZcdp) {
    return NoiseTable::gaussian(gaussian_variance(budget.value));
  }
  const Rational epsilon = rational_epsilon(budget.value);
  return NoiseTable::laplace({epsilon.denominator, epsilon.numerator});
}

}  // namespace

PreparedCdf::Tree::Tree(const CdfPlan& plan)
    : shape(plan.bins, plan.branching()),
      weights(level_weights(plan.privacy.measure, plan.level_budget())),
      precision(shape, weights) {}

PreparedCdf::PreparedCdf(const CdfPlan& plan) : plan_(plan) {
  if (plan.method == CdfMethod::kFactorization) {
    factorization_.emplace(plan.bins, std::pmr::new_delete_resource());
  } else {
    tree_.emplace(plan);
  }
}

// A record is in one node of each level, so level i costs level_budget()[i - 1]. It changes the
// measured sums by a column, whose norm is at most the sensitivity (docs/privacy.md, Theorem 27).
const std::vector<NoiseTable>& PreparedCdf::noise() const {
  if (!noise_.empty()) return noise_;
  std::vector<NoiseTable> noise;
  if (factorization_) {
    noise.push_back(NoiseTable::gaussian(
        vector_noise_variance(plan_.privacy.value, factorization_->sensitivity())));
  } else {
    for (const double budget : plan_.level_budget()) {
      noise.push_back(noise_of_level({plan_.privacy.measure, budget}));
    }
  }
  noise_ = std::move(noise);
  return noise_;
}

}  // namespace dpquantile
