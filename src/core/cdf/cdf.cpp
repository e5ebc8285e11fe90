#include "core/cdf/cdf.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/privacy/noise.hpp"
#include "core/tree/consistency.hpp"
#include "core/tree/isotonic.hpp"
#include "core/tree/tree_variance.hpp"

namespace dpquantile {

namespace {

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
