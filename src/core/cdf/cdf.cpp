#include "core/cdf/cdf.hpp"

#include <algorithm>
#include <numeric>

#include "core/tree/consistency.hpp"
#include "core/tree/isotonic.hpp"

namespace dpquantile {

namespace {

std::pmr::vector<std::int64_t> count_nodes(const LevelTree& tree,
                                           std::span<const std::uint64_t> counts,
                                           std::pmr::memory_resource* memory) {
  std::pmr::vector<std::int64_t> nodes(tree.total_nodes(), memory);
  std::ranges::copy(counts,
                    nodes.begin() + static_cast<std::ptrdiff_t>(tree.offset(tree.levels())));
  for (std::size_t level = tree.levels() - 1; level > 0; --level) {
    auto child = nodes.begin() + static_cast<std::ptrdiff_t>(tree.offset(level + 1));
    for (std::uint32_t node = 0; node < tree.nodes(level); ++node) {
      const auto end = child + static_cast<std::ptrdiff_t>(tree.children(level, node));
      nodes[tree.offset(level) + node] = std::accumulate(child, end, std::int64_t{0});
      child = end;
    }
  }
  return nodes;
}

std::pmr::vector<double> measure_nodes(std::span<const std::uint64_t> counts,
                                       const PreparedCdf& cdf, const MechanismContext& context) {
  const LevelTree& tree = cdf.tree().shape;
  std::pmr::vector<std::int64_t> noise(tree.total_nodes(), context.memory);
  for (std::size_t level = 1; level <= tree.levels(); ++level) {
    context.cancel.tick(tree.nodes(level));
    cdf.noise()[level - 1].draw(std::span(noise).subspan(tree.offset(level), tree.nodes(level)),
                                context.random);
  }
  const auto nodes = count_nodes(tree, counts, context.memory);
  std::pmr::vector<double> noisy(nodes.size(), context.memory);
  std::ranges::transform(nodes, noise, noisy.begin(), [](std::int64_t count, std::int64_t own) {
    return static_cast<double>(count + own);
  });
  return noisy;
}

// The sums and the noise are added modulo 2^64, which is post-processing.
std::pmr::vector<double> measure_sums(std::span<const std::uint64_t> counts, const PreparedCdf& cdf,
                                      const MechanismContext& context) {
  const auto sums = cdf.factorization().measure(counts, context.memory);
  context.cancel.tick(sums.size());
  std::pmr::vector<std::int64_t> noise(sums.size(), context.memory);
  cdf.noise().front().draw(noise, context.random);
  std::pmr::vector<double> noisy(sums.size(), context.memory);
  std::ranges::transform(sums, noise, noisy.begin(), [](std::uint64_t sum, std::int64_t own) {
    return static_cast<double>(static_cast<std::int64_t>(sum + static_cast<std::uint64_t>(own)));
  });
  return noisy;
}

// The least-squares estimates of the prefix counts; the result is a part of `nodes`.
std::span<double> prefixes_from_nodes(const PreparedCdf::Tree& tree, std::span<double> nodes) {
  const double root = estimate_subtrees(tree.shape, tree.precision, tree.weights, nodes);
  distribute_from_root(tree.shape, tree.precision, root, nodes);

  const std::span<double> prefixes = nodes.subspan(tree.shape.offset(tree.shape.levels()));
  std::partial_sum(prefixes.begin(), prefixes.end(), prefixes.begin());
  prefixes.back() = root;
  return prefixes;
}

std::span<double> prefix_estimates(const PreparedCdf& cdf, std::span<double> measurements) {
  if (cdf.plan().method != CdfMethod::kFactorization) {
    return prefixes_from_nodes(cdf.tree(), measurements);
  }
  cdf.factorization().estimate(measurements);
  return measurements;
}

// Turns the measurements into the curve: estimates of the prefix counts, then monotone, then
// clipped to 0 .. the total, which becomes the last value. The result is a part of `measurements`.
std::span<double> curve_from_measurements(const PreparedCdf& cdf, std::span<double> measurements,
                                          std::pmr::memory_resource* memory) {
  const std::span<double> prefixes = prefix_estimates(cdf, measurements);
  const double rows = std::max(prefixes.back(), 0.0);
  make_monotone(prefixes, memory);
  for (double& prefix : prefixes) prefix = std::clamp(prefix, 0.0, rows);
  prefixes.back() = rows;
  return prefixes;
}

// std::llround() for counts, which are at least 0, without a call.
std::int64_t to_whole_rows(double count) {
  const auto whole = static_cast<std::int64_t>(count);
  return whole + static_cast<std::int64_t>(count - static_cast<double>(whole) >= 0.5);
}

}  // namespace

std::pmr::vector<double> noisy_measurements(std::span<const std::uint64_t> counts,
                                            const PreparedCdf& cdf,
                                            const MechanismContext& context) {
  return cdf.plan().method == CdfMethod::kFactorization ? measure_sums(counts, cdf, context)
                                                        : measure_nodes(counts, cdf, context);
}

std::pmr::vector<std::int64_t> cumulative_from_measurements(const PreparedCdf& cdf,
                                                            std::span<double> measurements,
                                                            std::pmr::memory_resource* memory) {
  const std::span<const double> curve = curve_from_measurements(cdf, measurements, memory);
  std::pmr::vector<std::int64_t> cumulative(curve.size(), memory);
  std::ranges::transform(curve, cumulative.begin(), to_whole_rows);
  return cumulative;
}

std::pmr::vector<std::int64_t> release_cdf(std::span<const std::uint64_t> counts,
                                           const PreparedCdf& cdf,
                                           const MechanismContext& context) {
  auto noisy = noisy_measurements(counts, cdf, context);
  return cumulative_from_measurements(cdf, noisy, context.memory);
}

std::pmr::vector<double> release_unrounded_cdf(std::span<const std::uint64_t> counts,
                                               const PreparedCdf& cdf,
                                               const MechanismContext& context) {
  auto noisy = noisy_measurements(counts, cdf, context);
  const std::span<const double> curve = curve_from_measurements(cdf, noisy, context.memory);
  return {curve.begin(), curve.end(), context.memory};
}

}  // namespace dpquantile
