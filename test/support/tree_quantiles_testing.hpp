#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/quantiles/tree_quantiles.hpp"
#include "support/cdf_law.hpp"
#include "support/context_testing.hpp"
#include "support/min_max.hpp"
#include "support/quantiles_sampler.hpp"

namespace dpquantile::test {

// Independent releases of the mechanism under test for one dataset.
class TreeQuantilesSampler {
 public:
  TreeQuantilesSampler(const Dataset& data, std::vector<double> quantiles, const CdfPlan& plan)
      : histogram_(histogram_of(data)),
        cells_(data.cells),
        quantiles_(std::move(quantiles)),
        cdf_(plan) {}

  // Uses the plan for a value grid with the dataset's number of cells.
  TreeQuantilesSampler(const Dataset& data, std::vector<double> quantiles,
                       const PrivacyParameter& privacy)
      : TreeQuantilesSampler(data, std::move(quantiles), tree_quantiles_plan(data.cells, privacy)) {
  }

  // The answers, in the order of the quantiles.
  std::vector<std::uint32_t> draw() {
    const auto answers = tree_quantiles(histogram_, cells_, quantiles_, cdf_, context_);
    return {answers.begin(), answers.end()};
  }

 private:
  Histogram histogram_;
  std::uint64_t cells_;
  std::vector<double> quantiles_;
  PreparedCdf cdf_;
  TestContext context_;
};

// The answers for quantiles by the definition. It follows the curve cell by cell from the left.
// Each cell of a leaf has an equal part of the leaf's rows.
class CurveByTheBook {
 public:
  CurveByTheBook(std::uint64_t cells, std::vector<Real> curve)
      : cells_(cells), curve_(std::move(curve)), widths_(curve_.size()) {
    for (std::uint64_t cell = 0; cell < cells_; ++cell) ++widths_[leaf_of(cell)];
  }

  std::uint32_t answer(Real q) const {
    const Real total = curve_.back();
    if (total == 0)
      return std::min(static_cast<std::uint32_t>(q * static_cast<Real>(cells_)), last_cell());
    const Real half_row = std::min<Real>(0.5L, total / 2);
    const Real target = std::clamp<Real>(q * total, half_row, total - half_row);
    Real rows = 0;
    for (std::uint32_t cell = 0; cell <= last_cell(); ++cell) {
      rows += rows_of(cell);
      if (rows > target) return cell;
      // At the end of a leaf an equal count reaches the target.
      const bool ends_leaf = cell == last_cell() || leaf_of(cell) != leaf_of(cell + 1);
      if (ends_leaf && curve_[leaf_of(cell)] >= target) return cell;
    }
    return last_cell();
  }

 private:
  std::uint32_t last_cell() const { return static_cast<std::uint32_t>(cells_ - 1); }
  std::size_t leaf_of(std::uint64_t cell) const {
    return static_cast<std::size_t>(cell * curve_.size() / cells_);
  }
  Real rows_of(std::uint32_t cell) const {
    const std::size_t leaf = leaf_of(cell);
    return (curve_[leaf] - (leaf == 0 ? 0 : curve_[leaf - 1])) / widths_[leaf];
  }

  std::uint64_t cells_;
  std::vector<Real> curve_;
  std::vector<Real> widths_;  // the number of cells of each leaf
};

// The probability of "these answers, and every measurement of level i + 1 lies within reach[i] of
// the centre's exact count" for all answers, by enumeration of all measurements.
class TreeQuantilesLaw {
 public:
  using Answers = std::vector<std::uint32_t>;

  TreeQuantilesLaw(const CdfPlan& plan, const Dataset& data, const Dataset& centre,
                   std::vector<double> quantiles, std::vector<std::int64_t> reach)
      : plan_(plan),
        cells_(data.cells),
        quantiles_(std::move(quantiles)),
        counts_(node_counts(leaf_counts(data), plan)),
        centre_(node_counts(leaf_counts(centre), plan)),
        reach_(std::move(reach)),
        nodes_(tree_nodes(plan.bins, plan.branching())),
        least_squares_(plan.bins, plan.branching(), weights_of(plan)),
        measured_(nodes_.size()) {
    visit(0, 1);
  }

  const std::map<Answers, Real>& probabilities() const { return probabilities_; }

 private:
  static std::vector<double> weights_of(const CdfPlan& plan) {
    std::vector<double> weights;
    for (const double budget : plan.level_budget()) {
      const bool is_pure = plan.privacy.measure == PrivacyMeasure::kPure;
      weights.push_back(is_pure ? budget * budget / 2 : 2 * budget);
    }
    return weights;
  }

  std::vector<std::uint64_t> leaf_counts(const Dataset& data) const {
    std::vector<std::uint64_t> counts(plan_.bins);
    for (const std::uint32_t cell : data.records) {
      ++counts[as_size(std::uint64_t{cell} * plan_.bins / cells_)];
    }
    return counts;
  }

  void visit(std::size_t n, Real probability) {
    if (n == nodes_.size()) {
      probabilities_[answers()] += probability;
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

  Answers answers() const {
    std::vector<Real> prefixes = least_squares_.bins(measured_);
    std::partial_sum(prefixes.begin(), prefixes.end(), prefixes.begin());
    const Real total = std::max<Real>(prefixes.back(), 0);
    std::vector<Real> monotone = min_max(prefixes);
    for (Real& count : monotone) count = std::clamp<Real>(count, 0, total);
    monotone.back() = total;
    const CurveByTheBook curve(cells_, std::move(monotone));
    Answers answers;
    for (const double q : quantiles_) answers.push_back(curve.answer(q));
    return answers;
  }

  CdfPlan plan_;
  std::uint64_t cells_;
  std::vector<double> quantiles_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> centre_;
  std::vector<std::int64_t> reach_;
  std::vector<TreeNode> nodes_;
  DenseLeastSquares least_squares_;
  std::vector<double> measured_;
  std::map<Answers, Real> probabilities_;
};

}  // namespace dpquantile::test
