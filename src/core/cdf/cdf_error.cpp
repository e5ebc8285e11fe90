#include "core/cdf/cdf_error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/error.hpp"
#include "core/cdf/factorization_error.hpp"
#include "core/cdf/simulated_noise.hpp"
#include "core/prefix_sums/prefix_factorization.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/tree/consistency.hpp"
#include "core/tree/tree_variance.hpp"

namespace dpquantile {

namespace {

constexpr std::size_t kFewestRuns = 4000;
constexpr double kRunsBeyond = 10;  // expected runs above the quantile
constexpr double kStandardErrors = 3;
constexpr int kPointsPerRun = 8;

constexpr std::size_t kMostNodesPerRun = 4096;
constexpr std::uint32_t kMostSimulatedBins = 4096;
constexpr std::uint32_t kLeastBlock = 512;
constexpr std::size_t kMostBlocks = 512;
constexpr std::size_t kPooledBins = std::size_t{1} << 21;

// The simulated levels with the budget of each, epsilon or rho. A level of budget 0 is not
// measured.
struct Levels {
  PrivacyMeasure measure;
  std::vector<std::uint32_t> branching;
  std::vector<double> budget;

  std::size_t size() const { return branching.size(); }
  std::vector<double> weights() const { return level_weights(measure, budget); }
  // `count` levels, from level `first` on.
  Levels part(std::size_t first, std::size_t count) const {
    const auto branchings = std::span(branching).subspan(first, count);
    const auto budgets = std::span(budget).subspan(first, count);
    return {measure, {branchings.begin(), branchings.end()}, {budgets.begin(), budgets.end()}};
  }
  // The noise of one node of a level, 1 .. size().
  double draw_noise(SimulatedNoise& noise, std::size_t level) const {
    const double own = budget[level - 1];
    if (own == 0) return 0;
    return measure == PrivacyMeasure::kPure ? noise.laplace(own) : noise.gaussian(1 / (2 * own));
  }
};

Levels levels_of(const CdfPlan& plan) {
  return {plan.privacy.measure,
          {plan.branching().begin(), plan.branching().end()},
          {plan.level_budget().begin(), plan.level_budget().end()}};
}

// The errors of one simulated release.
struct RunErrors {
  double total = 0;  // with its sign
  double everywhere = 0;
  double everywhere_fraction_rows = 0;
  double point[kPointsPerRun];
  double point_fraction_rows[kPointsPerRun];
};

// Errors of counts from the right are the errors of a fraction near 1 (docs/privacy.md, "Bands").
double fraction_error(double prefix_error, double total_error) {
  return std::max(std::abs(prefix_error), std::abs(total_error - prefix_error));
}

// The errors of a release with these errors of the prefix counts.
RunErrors errors_of(std::span<const double> prefixes, SimulatedNoise& noise) {
  RunErrors errors;
  const double total = prefixes.back();
  errors.total = total;
  for (const double prefix : prefixes) {
    errors.everywhere = std::max(errors.everywhere, std::abs(prefix));
    errors.everywhere_fraction_rows =
        std::max(errors.everywhere_fraction_rows, fraction_error(prefix, total));
  }
  for (int i = 0; i < kPointsPerRun; ++i) {
    const double at_point = prefixes[noise.below(prefixes.size())];
    errors.point[i] = std::abs(at_point);
    errors.point_fraction_rows[i] = fraction_error(at_point, total);
  }
  return errors;
}

// A tree that counts no records: its nodes hold only noise.
class NoiseTree {
 public:
  NoiseTree(const NoiseTree&) = delete;
  NoiseTree& operator=(const NoiseTree&) = delete;

  NoiseTree(std::uint32_t bins, const Levels& levels, std::pmr::memory_resource* memory)
      : tree_(bins, levels.branching),
        levels_(levels),
        weights_(levels.weights()),
        precision_(tree_, weights_),
        nodes_(tree_.total_nodes(), memory) {}

  // Draws new noise and estimates the subtrees; returns the root's estimate.
  double draw(SimulatedNoise& noise) {
    for (std::size_t level = 1; level <= tree_.levels(); ++level) {
      for (double& node : level_nodes(level)) node = levels_.draw_noise(noise, level);
    }
    return estimate_subtrees(tree_, precision_, weights_, nodes_);
  }

  // The errors of the leaves, given the error of the root.
  std::span<const double> leaves(double root) {
    distribute_from_root(tree_, precision_, root, nodes_);
    return level_nodes(tree_.levels());
  }

 private:
  std::span<double> level_nodes(std::size_t level) {
    return std::span(nodes_).subspan(tree_.offset(level), tree_.nodes(level));
  }

  LevelTree tree_;
  Levels levels_;
  std::vector<double> weights_;
  SubtreePrecision precision_;
  std::pmr::vector<double> nodes_;
};

// Simulates whole trees.
class TreeSimulation {
 public:
  TreeSimulation(const CdfPlan& plan, std::pmr::memory_resource* memory)
      : tree_(plan.bins, levels_of(plan), memory), prefixes_(plan.bins, memory) {}

  RunErrors run(SimulatedNoise& noise) {
    const double total = tree_.draw(noise);
    const std::span<const double> leaves = tree_.leaves(total);
    std::partial_sum(leaves.begin(), leaves.end(), prefixes_.begin());
    return errors_of(prefixes_, noise);
  }

 private:
  NoiseTree tree_;
  std::pmr::vector<double> prefixes_;
};

// Simulates whole releases of a factorization. In the units of its measurements the noise is so
// wide that the real Gaussian law has the same figures as the discrete one.
class FactorizationSimulation {
 public:
  FactorizationSimulation(const CdfPlan& plan, std::pmr::memory_resource* memory)
      : factorization_(plan.bins, memory), prefixes_(plan.bins, memory) {
    const uint128_t variance =
        vector_noise_variance(plan.privacy.value, factorization_.sensitivity());
    deviation_ = std::sqrt(static_cast<double>(variance));
  }

  RunErrors run(SimulatedNoise& noise) {
    for (double& value : prefixes_) value = deviation_ * noise.normal();
    factorization_.estimate(prefixes_);
    return errors_of(prefixes_, noise);
  }

 private:
  PrefixFactorization factorization_;
  double deviation_;
  std::pmr::vector<double> prefixes_;
};

// Simulated subtrees below full nodes of one level, each used many times. If the final error of a
// node is u, the prefix error after j of its S bins is j / S * u + path[j - 1].
class BlockPool {
 public:
  BlockPool(std::uint32_t bins, const Levels& levels, SimulatedNoise& noise, const Workspace& work)
      : bins_(bins),
        blocks_(std::max<std::size_t>(1, kPooledBins / bins), work.memory),
        paths_(blocks_.size() * bins, work.memory) {
    NoiseTree tree(bins, levels, work.memory);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].sum = tree.draw(noise);
      double prefix = 0;
      std::size_t j = i * bins;
      for (const double leaf : tree.leaves(0)) {
        work.cancel.tick();
        prefix += leaf;
        paths_[j++] = static_cast<float>(prefix);
        blocks_[i].low = std::min(blocks_[i].low, prefix);
        blocks_[i].high = std::max(blocks_[i].high, prefix);
      }
    }
  }

  struct Block {
    double sum = 0;  // error of the sum of the children's subtree estimates
    double low = 0;  // least value of the path, at most 0
    double high = 0;
  };
  std::size_t size() const { return blocks_.size(); }
  std::uint32_t bins() const { return bins_; }
  const Block& block(std::size_t i) const { return blocks_[i]; }
  double path(std::size_t i, std::uint32_t j) const { return paths_[i * bins_ + j]; }

 private:
  std::uint32_t bins_;
  std::pmr::vector<Block> blocks_;
  std::pmr::vector<float> paths_;
};

// Simulates the tree above one level anew in each run, and draws what is below it from a pool.
class PooledSimulation {
 public:
  PooledSimulation(std::uint32_t bins, const Levels& levels, std::size_t cut, std::uint32_t block,
                   SimulatedNoise& noise, const Workspace& work)
      : bins_(bins),
        top_levels_(levels.part(0, cut)),
        top_tree_((bins + block - 1) / block, top_levels_.branching),
        weights_(top_levels_.weights()),
        pool_(block, levels.part(cut, levels.size() - cut), noise, work),
        own_weight_(weights_.back()),
        weight_below_(root_precision(block, levels.part(cut, levels.size() - cut))),
        chosen_(top_tree_.bins(), work.memory),
        before_(top_tree_.bins(), work.memory),
        nodes_(top_tree_.total_nodes(), work.memory) {
    weights_.back() = own_weight_ + weight_below_;
    precision_.emplace(top_tree_, weights_);
  }
  PooledSimulation(const PooledSimulation&) = delete;
  PooledSimulation& operator=(const PooledSimulation&) = delete;

  RunErrors run(SimulatedNoise& noise) {
    const double total = draw_top(noise);
    RunErrors errors;
    errors.total = total;
    for (std::size_t b = 0; b < chosen_.size(); ++b) visit(b, total, errors);
    for (int i = 0; i < kPointsPerRun; ++i) {
      const std::size_t k = noise.below(bins_);
      const double error =
          prefix_error(k / pool_.bins(), static_cast<std::uint32_t>(k % pool_.bins()));
      errors.point[i] = std::abs(error);
      errors.point_fraction_rows[i] = fraction_error(error, total);
    }
    return errors;
  }

 private:
  static double root_precision(std::uint32_t block, const Levels& below) {
    return SubtreePrecision(LevelTree(block, below.branching), below.weights()).edge(0);
  }

  std::span<double> leaves() {
    return std::span(nodes_).subspan(top_tree_.offset(top_tree_.levels()), top_tree_.bins());
  }

  // Draws the final errors of the top tree's leaves and sums up what precedes each; returns the
  // error of the total.
  double draw_top(SimulatedNoise& noise) {
    for (std::size_t level = 1; level < top_tree_.levels(); ++level) {
      for (std::uint32_t i = 0; i < top_tree_.nodes(level); ++i) {
        nodes_[top_tree_.offset(level) + i] = top_levels_.draw_noise(noise, level);
      }
    }
    for (std::size_t b = 0; b < chosen_.size(); ++b) {
      chosen_[b] = noise.below(pool_.size());
      const double own = top_levels_.draw_noise(noise, top_tree_.levels());
      leaves()[b] = (own_weight_ * own + weight_below_ * pool_.block(chosen_[b]).sum) /
                    (own_weight_ + weight_below_);
    }
    const double total = estimate_subtrees(top_tree_, *precision_, weights_, nodes_);
    distribute_from_root(top_tree_, *precision_, total, nodes_);
    double before = 0;
    for (std::size_t b = 0; b < before_.size(); ++b) {
      before_[b] = before;
      before += leaves()[b];
    }
    return total;
  }

  double prefix_error(std::size_t b, std::uint32_t j) {
    const double part = static_cast<double>(j + 1) / pool_.bins();
    return before_[b] + part * leaves()[b] + pool_.path(chosen_[b], j);
  }

  // Looks at every prefix of a block only if one of them may be a new maximum.
  void visit(std::size_t b, double total, RunErrors& errors) {
    const BlockPool::Block& block = pool_.block(chosen_[b]);
    const double after = before_[b] + leaves()[b];
    const double low = std::min(before_[b], after) + block.low;
    const double high = std::max(before_[b], after) + block.high;
    if (std::max(-low, high) <= errors.everywhere &&
        std::max(fraction_error(low, total), fraction_error(high, total)) <=
            errors.everywhere_fraction_rows) {
      return;
    }
    const std::size_t first = b * pool_.bins();
    const auto size =
        static_cast<std::uint32_t>(std::min<std::size_t>(pool_.bins(), bins_ - first));
    for (std::uint32_t j = 0; j < size; ++j) {
      const double error = prefix_error(b, j);
      errors.everywhere = std::max(errors.everywhere, std::abs(error));
      errors.everywhere_fraction_rows =
          std::max(errors.everywhere_fraction_rows, fraction_error(error, total));
    }
  }

  std::uint32_t bins_;
  Levels top_levels_;
  LevelTree top_tree_;
  std::vector<double> weights_;
  std::optional<SubtreePrecision> precision_;
  BlockPool pool_;
  double own_weight_;    // of the own measurement of a node at the cut
  double weight_below_;  // of its children's measurements
  std::pmr::vector<std::size_t> chosen_;
  std::pmr::vector<double> before_;
  std::pmr::vector<double> nodes_;
};

// A wide single level is cut in two; the upper one of these is not measured.
Levels cut_wide_level(const CdfPlan& plan) {
  Levels levels = levels_of(plan);
  const std::uint32_t last = levels.branching.back();
  if (plan.levels == 1 && last > kLeastBlock) {
    levels.branching.back() = (last + kLeastBlock - 1) / kLeastBlock;
    levels.branching.push_back(kLeastBlock);
    levels.budget.insert(levels.budget.end() - 1, 0);
  }
  return levels;
}

PooledSimulation make_pooled(const CdfPlan& plan, SimulatedNoise& noise, const Workspace& work) {
  Levels levels = cut_wide_level(plan);
  const LevelTree tree(plan.bins, levels.branching);
  // The first branching may be larger than the number of nodes below the root.
  levels.branching.front() = std::min(levels.branching.front(), tree.nodes(1));
  const std::uint64_t most = std::max<std::uint64_t>(kLeastBlock, plan.bins / kMostBlocks);
  std::size_t cut = tree.levels() - 1;
  while (cut > 1 && tree.stride(cut - 1) <= most) --cut;
  return PooledSimulation(plan.bins, levels, cut, static_cast<std::uint32_t>(tree.stride(cut)),
                          noise, work);
}

// Collects the values of all runs and finds the quantile of them to report.
class Quantile {
 public:
  Quantile(double confidence, std::pmr::memory_resource* memory)
      : confidence_(confidence), values_(memory) {}

  void add(double value) { values_.push_back(value); }

  // `runs` is the number of independent runs that gave the values.
  double upper(double runs) {
    const double level =
        confidence_ + kStandardErrors * std::sqrt(confidence_ * (1 - confidence_) / runs);
    const auto count = static_cast<double>(values_.size());
    const auto index = static_cast<std::ptrdiff_t>(std::min(std::ceil(level * count), count)) - 1;
    std::nth_element(values_.begin(), values_.begin() + index, values_.end());
    return values_[static_cast<std::size_t>(index)];
  }

 private:
  double confidence_;
  std::pmr::vector<double> values_;
};

// The errors at points chosen at random. No count is released above the total. So where the data
// are flat at the total, an estimate of it that is too small makes all counts too small. That is no
// worse than their own errors unless the total has far more noise than they, as in a histogram.
class PointErrors {
 public:
  PointErrors(double confidence, std::pmr::memory_resource* memory)
      : alone_(confidence, memory), below_total_(confidence, memory) {}

  void add(const RunErrors& errors) {
    square_of_total_ += errors.total * errors.total;
    for (const double error : errors.point) {
      square_ += error * error / kPointsPerRun;
      alone_.add(error);
      below_total_.add(std::max(error, -errors.total));
    }
  }

  double upper(double runs) {
    return square_of_total_ > kNoisyTotal * square_ ? below_total_.upper(runs) : alone_.upper(runs);
  }

 private:
  // The total is noisy if its variance is more than so many times that of a point. The ratio
  // is 1.33 or more for one level, and about 1 for more levels.
  static constexpr double kNoisyTotal = 1.2;

  Quantile alone_;
  Quantile below_total_;
  double square_ = 0;
  double square_of_total_ = 0;
};

template <class Simulation>
CdfError simulate(Simulation&& simulation, SimulatedNoise& noise, double confidence,
                  const Workspace& work) {
  const auto runs =
      std::max(kFewestRuns, static_cast<std::size_t>(std::ceil(kRunsBeyond / (1 - confidence))));
  PointErrors point(confidence, work.memory);
  Quantile point_fraction_rows(confidence, work.memory);
  Quantile everywhere(confidence, work.memory);
  Quantile everywhere_fraction_rows(confidence, work.memory);
  for (std::size_t i = 0; i < runs; ++i) {
    work.cancel.check();
    const RunErrors errors = simulation.run(noise);
    point.add(errors);
    for (const double error : errors.point_fraction_rows) point_fraction_rows.add(error);
    everywhere.add(errors.everywhere);
    everywhere_fraction_rows.add(errors.everywhere_fraction_rows);
  }
  const auto independent = static_cast<double>(runs);
  // Rounding to whole rows adds up to half a row to the error of F^ and of n^.
  return {std::floor(point.upper(independent) + 0.5), point_fraction_rows.upper(independent) + 1,
          std::floor(everywhere.upper(independent) + 0.5),
          everywhere_fraction_rows.upper(independent) + 1};
}

}  // namespace

CdfError simulate_cdf_error(const CdfPlan& plan, double confidence, const Workspace& work) {
  check_confidence(confidence);
  SimulatedNoise noise;
  if (plan.method == CdfMethod::kFactorization) {
    return plan.bins <= kMostSimulatedBins
               ? simulate(FactorizationSimulation(plan, work.memory), noise, confidence, work)
               : bound_factorization_error(plan, confidence, work);
  }
  if (LevelTree(plan.bins, plan.branching()).total_nodes() <= kMostNodesPerRun) {
    return simulate(TreeSimulation(plan, work.memory), noise, confidence, work);
  }
  return simulate(make_pooled(plan, noise, work), noise, confidence, work);
}

}  // namespace dpquantile
