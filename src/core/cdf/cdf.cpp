#include "core/cdf/cdf.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/privacy/noise.hpp"
#include "core/privacy/zcdp.hpp"
#include "core/tree/consistency.hpp"
#include "core/tree/isotonic.hpp"
#include "core/tree/tree_variance.hpp"

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

class LevelNoise {
 public:
  explicit LevelNoise(const PrivacyParameter& budget) : measure_(budget.measure) {
    if (measure_ == PrivacyMeasure::kPure) {
      const Rational epsilon = rational_epsilon(budget.value);
      parameter_ = {epsilon.denominator, epsilon.numerator};
    } else {
      parameter_ = gaussian_variance(budget.value);
    }
  }

  std::int64_t draw(RandomStream& random) const {
    return measure_ == PrivacyMeasure::kPure ? discrete_laplace(random, parameter_)
                                             : discrete_gaussian(random, parameter_);
  }

 private:
  PrivacyMeasure measure_;
  Rational parameter_;  // the scale, or the variance
};

std::pmr::vector<std::int64_t> count_nodes(const LevelTree& tree,
                                           std::span<const std::uint64_t> counts,
                                           std::pmr::memory_resource* memory) {
  std::pmr::vector<std::int64_t> nodes(tree.total_nodes(), memory);
  std::ranges::copy(counts,
                    nodes.begin() + static_cast<std::ptrdiff_t>(tree.offset(tree.levels())));
  for (std::size_t level = tree.levels() - 1; level > 0; --level) {
    const std::size_t below = tree.offset(level + 1);
    for (std::uint32_t child = 0; child < tree.nodes(level + 1); ++child) {
      nodes[tree.offset(level) + child / tree.branching(level)] += nodes[below + child];
    }
  }
  return nodes;
}

// A record is in one node of each level, so level i costs level_budget()[i - 1].
std::pmr::vector<double> measure(const LevelTree& tree, const CdfPlan& plan,
                                 std::span<const std::int64_t> nodes,
                                 const MechanismContext& context) {
  std::pmr::vector<double> noisy(nodes.size(), context.memory);
  for (std::size_t level = 1; level <= tree.levels(); ++level) {
    const LevelNoise noise({plan.privacy.measure, plan.level_budget()[level - 1]});
    for (std::size_t i = tree.offset(level); i < tree.offset(level) + tree.nodes(level); ++i) {
      context.cancel.tick();
      noisy[i] = static_cast<double>(nodes[i] + noise.draw(context.random));
    }
  }
  return noisy;
}

// Turns the measurements into the curve: least squares, then monotone, then clipped to 0 .. the
// total, which becomes the last value. The result is a part of `nodes`.
std::span<double> curve_from_measurements(const LevelTree& tree, const CdfPlan& plan,
                                          std::span<double> nodes,
                                          std::pmr::memory_resource* memory) {
  const std::vector<double> weights = level_weights(plan.privacy.measure, plan.level_budget());
  const SubtreePrecision precision(tree, weights);
  const double root = estimate_subtrees(tree, precision, weights, nodes);
  distribute_from_root(tree, precision, root, nodes);

  const std::span<double> prefixes = nodes.subspan(tree.offset(tree.levels()), plan.bins);
  std::partial_sum(prefixes.begin(), prefixes.end(), prefixes.begin());
  const double rows = std::max(root, 0.0);
  make_monotone(prefixes, memory);
  for (double& prefix : prefixes) prefix = std::clamp(prefix, 0.0, rows);
  prefixes.back() = rows;
  return prefixes;
}

std::pmr::vector<double> measure_counts(const LevelTree& tree, const CdfPlan& plan,
                                        std::span<const std::uint64_t> counts,
                                        const MechanismContext& context) {
  return measure(tree, plan, count_nodes(tree, counts, context.memory), context);
}

}  // namespace

CdfPlan choose_cdf_plan(CdfMethod method, std::uint32_t bins, const PrivacyParameter& privacy) {
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

std::pmr::vector<std::int64_t> cumulative_from_measurements(const CdfPlan& plan,
                                                            std::span<double> nodes,
                                                            std::pmr::memory_resource* memory) {
  const LevelTree tree(plan.bins, plan.branching());
  const std::span<const double> curve = curve_from_measurements(tree, plan, nodes, memory);
  std::pmr::vector<std::int64_t> cumulative(plan.bins, memory);
  std::ranges::transform(curve, cumulative.begin(),
                         [](double count) { return std::llround(count); });
  return cumulative;
}

std::pmr::vector<std::int64_t> release_cdf(std::span<const std::uint64_t> counts,
                                           const CdfPlan& plan, const MechanismContext& context) {
  const LevelTree tree(plan.bins, plan.branching());
  auto noisy = measure_counts(tree, plan, counts, context);
  return cumulative_from_measurements(plan, noisy, context.memory);
}

std::pmr::vector<double> release_unrounded_cdf(std::span<const std::uint64_t> counts,
                                               const CdfPlan& plan,
                                               const MechanismContext& context) {
  const LevelTree tree(plan.bins, plan.branching());
  auto noisy = measure_counts(tree, plan, counts, context);
  const std::span<const double> curve = curve_from_measurements(tree, plan, noisy, context.memory);
  return {curve.begin(), curve.end(), context.memory};
}

}  // namespace dpquantile
