#include "core/quantiles/quantiles.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/exponential/rank.hpp"
#include "core/privacy/zcdp.hpp"
#include "core/quantiles/independent_quantiles.hpp"
#include "core/quantiles/recursion_plan.hpp"
#include "core/quantiles/recursive_quantiles.hpp"
#include "core/quantiles/tree_quantiles.hpp"

namespace dpquantile {

namespace {

// Where counts on a tree beat drawing the quantiles: their error grows with the number of cells and
// hardly with that of quantiles.
struct TreeRange {
  std::uint64_t most_cells;
  std::size_t fewest_quantiles;
};
constexpr TreeRange kTreeRanges[] = {{1 << 10, 17}, {1 << 15, 100}};

std::size_t count_distinct(std::span<const double> quantiles) {
  return sorted_distinct(quantiles, std::pmr::get_default_resource()).size();
}

void check_joint_quantiles(std::span<const double> quantiles) {
  const std::size_t distinct = count_distinct(quantiles);
  if (distinct <= kMaxJointQuantiles) return;
  throw ParameterError("method joint draws at most " + std::to_string(kMaxJointQuantiles) +
                           " different quantiles together, got " + std::to_string(distinct),
                       "Its time grows with the third power of their number. Method auto takes any "
                       "number.");
}

// The answers for ascending, distinct quantiles.
std::pmr::vector<std::uint32_t> draw_distinct(const Histogram& data, const QuantilesQuery& query,
                                              std::span<const double> quantiles,
                                              const MechanismContext& context) {
  std::pmr::vector<std::uint32_t> answers(quantiles.size(), context.memory);
  const SmearedRank rank(data);
  if (query.method == QuantilesMethod::kIndependent) {
    draw_independently(rank, query.cells, quantiles, query.privacy, context, answers);
  } else {
    const RecursionPlan plan = plan_for(query.method, quantiles.size(), query.privacy);
    draw_recursively(rank, query.cells, quantiles, plan, context, answers);
  }
  return answers;
}

}  // namespace

std::pmr::vector<double> sorted_distinct(std::span<const double> quantiles,
                                         std::pmr::memory_resource* memory) {
  std::pmr::vector<double> sorted(quantiles.begin(), quantiles.end(), memory);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

void check_quantiles(std::span<const double> quantiles) {
  if (quantiles.empty() || quantiles.size() > kMaxQuantiles) {
    throw ParameterError(
        "quantiles must have 1 to 4096 elements, got " + std::to_string(quantiles.size()),
        "Ask for 1 to 4096 quantiles, for example ARRAY[0.25, 0.5, 0.75].");
  }
  for (const double quantile : quantiles) {
    if (quantile >= 0 && quantile <= 1) continue;
    throw ParameterError("a quantile must be between 0 and 1, got " + shortest_decimal(quantile),
                         "The median is 0.5, the 95th percentile 0.95.");
  }
}

void check_quantiles_query(const QuantilesQuery& query) {
  check_quantiles(query.quantiles);
  check_privacy_parameter(query.privacy);
  if (query.method == QuantilesMethod::kJoint) check_joint_quantiles(query.quantiles);
}

QuantilesMethod resolved_method(const QuantilesQuery& query) {
  if (query.method != QuantilesMethod::kAuto) return query.method;
  if (query.privacy.measure == PrivacyMeasure::kZcdp) return QuantilesMethod::kAuto;
  const std::size_t distinct = count_distinct(query.quantiles);
  const bool by_tree = std::ranges::any_of(kTreeRanges, [&](const TreeRange& range) {
    return query.cells <= range.most_cells && distinct >= range.fewest_quantiles;
  });
  return by_tree ? QuantilesMethod::kTree : QuantilesMethod::kAuto;
}

double rho_of_quantiles(const QuantilesQuery& query) {
  if (query.privacy.measure == PrivacyMeasure::kZcdp) return query.privacy.value;
  if (resolved_method(query) == QuantilesMethod::kTree) {
    return rho_of_tree_quantiles(query.cells, query.privacy);
  }
  const std::size_t distinct = count_distinct(query.quantiles);
  if (query.method == QuantilesMethod::kIndependent) {
    return static_cast<double>(distinct) *
           rho_of_bounded_range(independent_epsilon(distinct, query.privacy));
  }
  return rho_of_plan(plan_for(query.method, distinct, query.privacy));
}

std::pmr::vector<std::uint32_t> draw_quantiles(const Histogram& data, const QuantilesQuery& query,
                                               const MechanismContext& context) {
  check_quantiles_query(query);
  if (resolved_method(query) == QuantilesMethod::kTree) {
    return tree_quantiles(data, query.cells, query.quantiles, query.privacy, context);
  }
  const std::pmr::vector<double> distinct = sorted_distinct(query.quantiles, context.memory);
  const std::pmr::vector<std::uint32_t> distinct_answers =
      draw_distinct(data, query, distinct, context);
  std::pmr::vector<std::uint32_t> answers(context.memory);
  answers.reserve(query.quantiles.size());
  for (const double quantile : query.quantiles) {
    const auto found = std::lower_bound(distinct.begin(), distinct.end(), quantile);
    answers.push_back(distinct_answers[static_cast<std::size_t>(found - distinct.begin())]);
  }
  return answers;
}

}  // namespace dpquantile
