#include "core/cdf/cdf.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/prefix_sums/prefix_factorization.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/vector_noise.hpp"
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
std::pmr::vector<double> measure_nodes(std::span<const std::uint64_t> counts, const CdfPlan& plan,
                                       const MechanismContext& context) {
  const LevelTree tree(plan.bins, plan.branching());
  const auto nodes = count_nodes(tree, counts, context.memory);
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

// A record changes the measured sums by a column, whose norm is at most the sensitivity
// (docs/privacy.md, Theorem 27). The sums and the noise are added modulo 2^64, which is
// post-processing.
std::pmr::vector<double> measure_sums(std::span<const std::uint64_t> counts, const CdfPlan& plan,
                                      const MechanismContext& context) {
  const PrefixFactorization factorization(plan.bins, context.memory);
  const VectorNoise noise(plan.privacy.value, factorization.sensitivity());
  const auto sums = factorization.measure(counts, context.memory);
  std::pmr::vector<double> noisy(sums.size(), context.memory);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    context.cancel.tick();
    const std::uint64_t sum = sums[i] + static_cast<std::uint64_t>(noise.draw(context.random));
    noisy[i] = static_cast<double>(static_cast<std::int64_t>(sum));
  }
  return noisy;
}

// The least-squares estimates of the prefix counts; the result is a part of `nodes`.
std::span<double> prefixes_from_nodes(const CdfPlan& plan, std::span<double> nodes) {
  const LevelTree tree(plan.bins, plan.branching());
  const std::vector<double> weights = level_weights(plan.privacy.measure, plan.level_budget());
  const SubtreePrecision precision(tree, weights);
  const double root = estimate_subtrees(tree, precision, weights, nodes);
  distribute_from_root(tree, precision, root, nodes);

  const std::span<double> prefixes = nodes.subspan(tree.offset(tree.levels()), plan.bins);
  std::partial_sum(prefixes.begin(), prefixes.end(), prefixes.begin());
  prefixes.back() = root;
  return prefixes;
}

std::span<double> prefixes_from_sums(const CdfPlan& plan, std::span<double> sums,
                                     std::pmr::memory_resource* memory) {
  PrefixFactorization(plan.bins, memory).estimate(sums);
  return sums;
}

// Turns the measurements into the curve: estimates of the prefix counts, then monotone, then
// clipped to 0 .. the total, which becomes the last value. The result is a part of `measurements`.
std::span<double> curve_from_measurements(const CdfPlan& plan, std::span<double> measurements,
                                          std::pmr::memory_resource* memory) {
  const std::span<double> prefixes = plan.method == CdfMethod::kFactorization
                                         ? prefixes_from_sums(plan, measurements, memory)
                                         : prefixes_from_nodes(plan, measurements);
  const double rows = std::max(prefixes.back(), 0.0);
  make_monotone(prefixes, memory);
  for (double& prefix : prefixes) prefix = std::clamp(prefix, 0.0, rows);
  prefixes.back() = rows;
  return prefixes;
}

}  // namespace

std::pmr::vector<double> noisy_measurements(std::span<const std::uint64_t> counts,
                                            const CdfPlan& plan, const MechanismContext& context) {
  return plan.method == CdfMethod::kFactorization ? measure_sums(counts, plan, context)
                                                  : measure_nodes(counts, plan, context);
}

std::pmr::vector<std::int64_t> cumulative_from_measurements(const CdfPlan& plan,
                                                            std::span<double> measurements,
                                                            std::pmr::memory_resource* memory) {
  const std::span<const double> curve = curve_from_measurements(plan, measurements, memory);
  std::pmr::vector<std::int64_t> cumulative(plan.bins, memory);
  std::ranges::transform(curve, cumulative.begin(),
                         [](double count) { return std::llround(count); });
  return cumulative;
}

std::pmr::vector<std::int64_t> release_cdf(std::span<const std::uint64_t> counts,
                                           const CdfPlan& plan, const MechanismContext& context) {
  auto noisy = noisy_measurements(counts, plan, context);
  return cumulative_from_measurements(plan, noisy, context.memory);
}

std::pmr::vector<double> release_unrounded_cdf(std::span<const std::uint64_t> counts,
                                               const CdfPlan& plan,
                                               const MechanismContext& context) {
  auto noisy = noisy_measurements(counts, plan, context);
  const std::span<const double> curve = curve_from_measurements(plan, noisy, context.memory);
  return {curve.begin(), curve.end(), context.memory};
}

}  // namespace dpquantile
