#include "core/cdf.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/consistency.hpp"
#include "core/isotonic.hpp"
#include "core/noise.hpp"
#include "core/tree_variance.hpp"

namespace dpquantile {

namespace {

// Makes room for the rounding of the levels' parts, so that they never sum to more than epsilon.
constexpr double kRoundingMargin = 1 - 0x1p-40;

// A rational epsilon in units of 2^-52, exactly.
uint128_t units(double epsilon) {
  const Rational rational = rational_epsilon(epsilon);
  return uint128_t{rational.numerator} * ((std::uint64_t{1} << 52) / rational.denominator);
}

void require_within_budget(const CdfLaw& law) {
  uint128_t spent = 0;
  for (const double epsilon : law.level_epsilon()) spent += units(epsilon);
  if (spent > units(law.epsilon)) throw std::logic_error("the levels spend more than epsilon");
}

// Exact counts of all nodes, from the leaves up.
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

// Counts with noise. A record is in one node of each level, so level i is level_epsilon[i]-DP.
std::pmr::vector<double> measure(const LevelTree& tree, const CdfLaw& law,
                                 std::span<const std::int64_t> nodes, RandomStream& random,
                                 CancelPoll& cancel, std::pmr::memory_resource* memory) {
  std::pmr::vector<double> noisy(nodes.size(), memory);
  for (std::size_t level = 1; level <= tree.levels(); ++level) {
    const Rational epsilon = rational_epsilon(law.level_epsilon()[level - 1]);
    const Rational scale{epsilon.denominator, epsilon.numerator};
    for (std::size_t i = tree.offset(level); i < tree.offset(level) + tree.nodes(level); ++i) {
      cancel.tick();
      noisy[i] = static_cast<double>(nodes[i] + discrete_laplace(random, scale));
    }
  }
  return noisy;
}

}  // namespace

CdfLaw choose_cdf_law(CdfMethod method, std::uint32_t bins, double epsilon) {
  const CdfTree tree = choose_cdf_tree(method, bins);
  CdfLaw law{method, bins, epsilon, static_cast<std::uint32_t>(tree.branching.size()), {}, {}};
  std::ranges::copy(tree.branching, law.branchings.begin());
  std::ranges::transform(tree.shares, law.level_epsilons.begin(),
                         [&](double share) { return share * epsilon * kRoundingMargin; });
  require_within_budget(law);
  return law;
}

std::pmr::vector<std::int64_t> cumulative_from_measurements(const CdfLaw& law,
                                                            std::span<double> nodes,
                                                            std::pmr::memory_resource* memory) {
  const LevelTree tree(law.bins, law.branching());
  const std::vector<double> weights = level_weights(law.level_epsilon());
  const SubtreePrecision precision(tree, weights);
  const double root = estimate_subtrees(tree, precision, weights, nodes);
  distribute_from_root(tree, precision, root, nodes);

  const std::span<double> prefixes = nodes.subspan(tree.offset(tree.levels()), law.bins);
  std::partial_sum(prefixes.begin(), prefixes.end(), prefixes.begin());
  const double rows = std::max(root, 0.0);
  make_monotone(prefixes, memory);
  std::pmr::vector<std::int64_t> cumulative(law.bins, memory);
  std::ranges::transform(prefixes, cumulative.begin(), [&](double prefix) {
    return std::llround(std::clamp(prefix, 0.0, rows));
  });
  cumulative.back() = std::llround(rows);
  return cumulative;
}

std::pmr::vector<std::int64_t> release_cdf(std::span<const std::uint64_t> counts, const CdfLaw& law,
                                           RandomStream& random, CancelPoll& cancel,
                                           std::pmr::memory_resource* memory) {
  const LevelTree tree(law.bins, law.branching());
  const auto exact = count_nodes(tree, counts, memory);
  auto noisy = measure(tree, law, exact, random, cancel, memory);
  return cumulative_from_measurements(law, noisy, memory);
}

}  // namespace dpquantile
