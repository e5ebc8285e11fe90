#include "core/quantiles/quantiles.hpp"

#include <algorithm>
#include <utility>

#include "core/exponential/rank.hpp"
#include "core/privacy/zcdp.hpp"
#include "core/quantiles/independent_quantiles.hpp"
#include "core/quantiles/recursive_quantiles.hpp"
#include "core/quantiles/replacing_quantiles.hpp"
#include "core/quantiles/tree_quantiles.hpp"

namespace dpquantile {

namespace {

const QuantilesQuery& checked(const QuantilesQuery& query) {
  check_quantiles_query(query);
  return query;
}

}  // namespace

QuantilesMechanism::Plan QuantilesMechanism::make_plan(const QuantilesQuery& query,
                                                       std::size_t distinct,
                                                       CdfPlanChooser choose) {
  const QuantilesMethod method = resolved_method(query);
  switch (method) {
    case QuantilesMethod::kTree:
      return tree_quantiles_plan(query.cells, query.privacy, choose);
    case QuantilesMethod::kIndependent:
      return IndependentPlan{query.privacy};
    default:
      return plan_for(method, distinct, query.privacy);
  }
}

ReleaseCosts QuantilesMechanism::costs_of(const QuantilesQuery& query,
                                          std::span<const double> distinct, const Plan& plan) {
  const PrivacyParameter& privacy = query.privacy;
  if (const auto* tree = std::get_if<CdfPlan>(&plan)) return costs_of_cdf(*tree);
  if (const auto* levels = std::get_if<RecursionPlan>(&plan)) {
    return {cost_with_rho(privacy, rho_of_plan(*levels)),
            replacing_cost_of_plan(privacy, *levels, distinct)};
  }
  const double rho = static_cast<double>(distinct.size()) *
                     rho_of_bounded_range(independent_epsilon(distinct.size(), privacy));
  return {cost_with_rho(privacy, rho), replacing_cost_of_independent(privacy, distinct)};
}

QuantilesMechanism::QuantilesMechanism(const QuantilesQuery& query,
                                       std::pmr::memory_resource* memory, CdfPlanChooser choose)
    : QuantilesMechanism(checked(query), sorted_distinct(query.quantiles, memory), choose) {}

// A copied pmr vector would leave the caller's memory, so the quantiles are moved on.
QuantilesMechanism::QuantilesMechanism(const QuantilesQuery& query,
                                       std::pmr::vector<double>&& distinct, CdfPlanChooser choose)
    : QuantilesMechanism(query, std::move(distinct), make_plan(query, distinct.size(), choose)) {}

QuantilesMechanism::QuantilesMechanism(const QuantilesQuery& query,
                                       std::pmr::vector<double>&& distinct, Plan plan)
    : Mechanism(costs_of(query, distinct, plan)),
      cells_(query.cells),
      quantiles_(query.quantiles.begin(), query.quantiles.end(), distinct.get_allocator()),
      distinct_(std::move(distinct)),
      plan_(std::move(plan)) {}

std::pmr::vector<std::uint32_t> QuantilesMechanism::release_distinct(
    const Histogram& data, const MechanismContext& context) const {
  std::pmr::vector<std::uint32_t> answers(distinct_.size(), context.memory);
  const SmearedRank rank(data);
  if (const auto* levels = std::get_if<RecursionPlan>(&plan_)) {
    draw_recursively(rank, cells_, distinct_, *levels, context, answers);
  } else {
    const PrivacyParameter& privacy = std::get<IndependentPlan>(plan_).privacy;
    draw_independently(rank, cells_, distinct_, privacy, context, answers);
  }
  return answers;
}

std::pmr::vector<std::uint32_t> QuantilesMechanism::release(const Histogram& data,
                                                            const MechanismContext& context) const {
  if (const auto* tree = std::get_if<CdfPlan>(&plan_)) {
    if (!tree_) tree_.emplace(*tree);
    return tree_quantiles(data, cells_, quantiles_, *tree_, context);
  }
  const std::pmr::vector<std::uint32_t> distinct_answers = release_distinct(data, context);
  std::pmr::vector<std::uint32_t> answers(context.memory);
  answers.reserve(quantiles_.size());
  for (const double quantile : quantiles_) {
    const auto found = std::lower_bound(distinct_.begin(), distinct_.end(), quantile);
    answers.push_back(distinct_answers[static_cast<std::size_t>(found - distinct_.begin())]);
  }
  return answers;
}

double rho_of_quantiles(const QuantilesQuery& query) {
  return *QuantilesMechanism(query, std::pmr::get_default_resource()).cost().rho;
}

std::pmr::vector<std::uint32_t> draw_quantiles(const Histogram& data, const QuantilesQuery& query,
                                               const MechanismContext& context) {
  return QuantilesMechanism(query, context.memory).release(data, context);
}

}  // namespace dpquantile
