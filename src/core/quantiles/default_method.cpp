#include "core/quantiles/default_method.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/exponential/joint_mechanism.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/quantiles/recursion_plan.hpp"
#include "core/quantiles/replacing_quantiles.hpp"

namespace dpquantile {

namespace {

double price(QuantilesMethod method, const PrivacyParameter& privacy,
             std::span<const double> distinct, const BudgetTerms& terms) {
  const RecursionPlan plan = plan_for(method, distinct.size(), privacy);
  const PrivacyCost cost = terms.replaces ? replacing_cost_of_plan(privacy, plan, distinct)
                                          : cost_with_rho(privacy, rho_of_plan(plan));
  return terms.in_rho || !cost.epsilon ? *cost.rho : *cost.epsilon;
}

// Joint draws have no larger lambda, so that more epsilon would be lost.
bool spends_in_vain(const RecursionPlan& plan) {
  const double most = joint_lambda(std::numeric_limits<double>::infinity());
  return std::ranges::any_of(plan, [&](const RecursionLevel& level) {
    return level.quantiles > 1 && joint_lambda(level.epsilon) >= most;
  });
}

}  // namespace

QuantilesMethod default_method(const QuantilesQuery& query, const BudgetTerms& terms) {
  const std::pmr::vector<double> distinct =
      sorted_distinct(query.quantiles, std::pmr::get_default_resource());
  const RecursionPlan blocks = plan_for(QuantilesMethod::kBlocks, distinct.size(), query.privacy);
  if (distinct.size() == 1 || spends_in_vain(blocks)) return QuantilesMethod::kApproximate;
  const auto price_of = [&](QuantilesMethod method) {
    return price(method, query.privacy, distinct, terms);
  };
  return price_of(QuantilesMethod::kBlocks) <= price_of(QuantilesMethod::kApproximate)
             ? QuantilesMethod::kBlocks
             : QuantilesMethod::kApproximate;
}

}  // namespace dpquantile
