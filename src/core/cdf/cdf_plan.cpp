#include "core/cdf/cdf_plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/base/error.hpp"
#include "core/base/int128.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/zcdp.hpp"

namespace dpquantile {

namespace {

// The levels' parts are rounded. The margin keeps their sum from exceeding the whole.
constexpr double kRoundingMargin = 1 - 0x1p-40;

// The exact cost of the noise that is drawn for this budget: a rational epsilon in units of 2^-52,
// or 1 / (2 sigma^2) in units of 2^-64.
uint128_t exact_cost(const PrivacyParameter& budget) {
  if (budget.measure == PrivacyMeasure::kPure) {
    const Rational epsilon = rational_epsilon(budget.value);
    return uint128_t{epsilon.numerator} * ((std::uint64_t{1} << 52) / epsilon.denominator);
  }
  const Rational variance = gaussian_variance(budget.value);
  return uint128_t{variance.denominator} * ((std::uint64_t{1} << 63) / variance.numerator);
}

void require_within_budget(const CdfPlan& plan) {
  uint128_t spent = 0;
  for (const double budget : plan.level_budget()) {
    spent += exact_cost({plan.privacy.measure, budget});
  }
  if (spent > exact_cost(plan.privacy)) {
    throw std::logic_error("the levels spend more than the whole");
  }
}

}  // namespace

void check_cdf_method(CdfMethod method, PrivacyMeasure measure) {
  if (method != CdfMethod::kFactorization || measure == PrivacyMeasure::kZcdp) return;
  throw ParameterError(
      "method factorization needs a guarantee in rho, got an epsilon",
      "Give NULL for epsilon and the option rho, or leave the method out: tree is the default "
      "for an epsilon.");
}

CdfPlan choose_cdf_plan(CdfMethod method, std::uint32_t bins, const PrivacyParameter& privacy) {
  check_cdf_method(method, privacy.measure);
  if (method == CdfMethod::kFactorization) return {method, bins, privacy, 0, {}, {}};
  const CdfTree tree = choose_cdf_tree(method, bins, privacy.measure);
  CdfPlan plan{method, bins, privacy, static_cast<std::uint32_t>(tree.branching.size()), {}, {}};
  std::ranges::copy(tree.branching, plan.branchings.begin());
  std::ranges::transform(tree.shares, plan.level_budgets.begin(),
                         [&](double share) { return share * privacy.value * kRoundingMargin; });
  require_within_budget(plan);
  return plan;
}

double rho_of_cdf(const CdfPlan& plan) {
  if (plan.privacy.measure == PrivacyMeasure::kZcdp) return plan.privacy.value;
  double rho = 0;
  for (const double epsilon : plan.level_budget()) rho += rho_of_pure(epsilon);
  // The sum of 20 numbers is off by less than 2^-48 of it.
  return rho * (1 + 0x1p-48);
}

}  // namespace dpquantile
