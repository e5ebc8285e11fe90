#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "support/cdf_testing.hpp"
#include "support/dense_least_squares.hpp"

// The exact law of a small release, by enumeration of all measurements.
namespace dpquantile::test {

// The exact counts of all nodes.
inline std::vector<std::int64_t> node_counts(std::span<const std::uint64_t> counts,
                                             const CdfPlan& plan) {
  std::vector<std::int64_t> nodes;
  for (const TreeNode& node : tree_nodes(plan.bins, plan.branching())) {
    std::int64_t sum = 0;
    for (std::uint32_t i = node.begin; i < node.end; ++i) {
      sum += static_cast<std::int64_t>(counts[i]);
    }
    nodes.push_back(sum);
  }
  return nodes;
}

// The probability of "this release, and every measurement of level i + 1 lies within reach[i] of
// the centre's exact count" for each release. The event about measurements is the same for all data
// with that centre. So an epsilon-private law keeps epsilon within the event. Its Renyi moments are
// sums, so those of the whole law bound them.
class CdfReleaseLaw {
 public:
  using Law = std::map<Cumulative, Real>;

  CdfReleaseLaw(const CdfPlan& plan, std::span<const std::uint64_t> counts,
                std::span<const std::uint64_t> centre, std::vector<std::int64_t> reach)
      : plan_(plan),
        cdf_(plan),
        counts_(node_counts(counts, plan)),
        centre_(node_counts(centre, plan)),
        reach_(std::move(reach)),
        nodes_(tree_nodes(plan.bins, plan.branching())),
        measured_(nodes_.size()) {
    visit(0, 1);
  }

  const Law& probabilities() const { return probabilities_; }

 private:
  void visit(std::size_t n, Real probability) {
    if (n == nodes_.size()) {
      std::vector<double> scratch = measured_;
      const auto release = cumulative_from_measurements(cdf_, scratch, heap());
      probabilities_[{release.begin(), release.end()}] += probability;
      return;
    }
    const std::size_t level = nodes_[n].level - 1;
    for (std::int64_t y = -reach_[level]; y <= reach_[level]; ++y) {
      const std::int64_t value = centre_[n] + y;
      measured_[n] = static_cast<double>(value);
      visit(n + 1,
            probability * noise_probability(plan_.privacy.measure, plan_.level_budget()[level],
                                            value - counts_[n]));
    }
  }

  CdfPlan plan_;
  PreparedCdf cdf_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> centre_;
  std::vector<std::int64_t> reach_;
  std::vector<TreeNode> nodes_;
  std::vector<double> measured_;
  Law probabilities_;
};

}  // namespace dpquantile::test
