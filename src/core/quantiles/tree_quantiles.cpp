#include "core/quantiles/tree_quantiles.hpp"

#include <algorithm>
#include <cmath>

namespace dpquantile {

namespace {

constexpr std::uint32_t kMostPureLeaves = std::uint32_t{1} << 14;
constexpr std::uint32_t kMostZcdpLeaves = std::uint32_t{1} << 16;

// Divides the cells of the value grid among the leaves: their numbers of cells differ by at most
// one.
class Leaves {
 public:
  Leaves(std::uint64_t cells, std::uint32_t leaves) : cells_(cells), leaves_(leaves) {}

  std::uint64_t leaf_of(std::uint64_t cell) const { return cell * leaves_ / cells_; }
  std::uint64_t first_cell(std::uint64_t leaf) const {
    return (leaf * cells_ + leaves_ - 1) / leaves_;
  }
  // The cell at a fraction of a leaf.
  std::uint32_t cell_within(std::uint64_t leaf, double part) const {
    return cell_between(first_cell(leaf), first_cell(leaf + 1), part);
  }
  // The cell at a fraction of the value grid.
  std::uint32_t cell_at(double part) const { return cell_between(0, cells_, part); }

 private:
  static std::uint32_t cell_between(std::uint64_t begin, std::uint64_t end, double part) {
    const auto width = static_cast<double>(end - begin);
    const auto steps = static_cast<std::uint64_t>(part * width);
    return static_cast<std::uint32_t>(std::min(begin + steps, end - 1));
  }

  std::uint64_t cells_;
  std::uint64_t leaves_;
};

std::pmr::vector<std::uint64_t> count_leaves(const Histogram& data, const Leaves& leaves,
                                             std::uint32_t bins, const Workspace& work) {
  std::pmr::vector<std::uint64_t> counts(bins, work.memory);
  for (std::size_t run = 0; run < data.runs(); ++run) {
    work.cancel.tick();
    counts[static_cast<std::size_t>(leaves.leaf_of(data.cell(run)))] += data.count(run);
  }
  return counts;
}

// The cell where the curve reaches a fraction q of its last value, but not before the middle of the
// first row or after the middle of the last. `curve` holds the counts up to the end of each leaf.
std::uint32_t cell_reaching(std::span<const double> curve, double q, const Leaves& leaves) {
  const double total = curve.back();
  if (total == 0) return leaves.cell_at(q);
  const double middle_of_row = std::min(0.5, total / 2);
  const double target = std::clamp(q * total, middle_of_row, total - middle_of_row);
  const auto reached =
      std::ranges::partition_point(curve, [&](double count) { return count < target; });
  const double before = reached == curve.begin() ? 0 : *(reached - 1);
  return leaves.cell_within(static_cast<std::uint64_t>(reached - curve.begin()),
                            (target - before) / (*reached - before));
}

}  // namespace

std::uint32_t tree_quantiles_leaves(std::uint64_t cells, PrivacyMeasure measure) {
  const std::uint32_t most = measure == PrivacyMeasure::kPure ? kMostPureLeaves : kMostZcdpLeaves;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(cells, most));
}

CdfPlan tree_quantiles_plan(std::uint64_t cells, const PrivacyParameter& privacy,
                            CdfPlanChooser choose) {
  check_privacy_parameter(privacy);
  return choose(CdfMethod::kTree, tree_quantiles_leaves(cells, privacy.measure), privacy);
}

std::pmr::vector<std::uint32_t> tree_quantiles(const Histogram& data, std::uint64_t cells,
                                               std::span<const double> quantiles,
                                               const PreparedCdf& cdf,
                                               const MechanismContext& context) {
  check_quantiles(quantiles);
  const std::uint32_t bins = cdf.plan().bins;
  const Leaves leaves(cells, bins);
  const auto counts = count_leaves(data, leaves, bins, context);
  const auto curve = release_unrounded_cdf(counts, cdf, context);
  std::pmr::vector<std::uint32_t> answers(context.memory);
  answers.reserve(quantiles.size());
  for (const double quantile : quantiles) {
    answers.push_back(cell_reaching(curve, quantile, leaves));
  }
  return answers;
}

}  // namespace dpquantile
