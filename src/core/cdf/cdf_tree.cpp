#include "core/cdf/cdf_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/tree/tree_variance.hpp"

namespace dpquantile {

namespace {

// The range of average branchings to search. For Laplace noise branchings near 16 are best; the
// range is wide on both sides. For Gaussian noise branchings near 5 would be best without the
// least-squares step. But that step gains most from many levels, which cost only a linear part of
// rho: 2 is best, with a little more at the bottom.
struct BranchingRange {
  double narrowest;
  double widest;
};

BranchingRange branching_range(PrivacyMeasure measure) {
  return measure == PrivacyMeasure::kPure ? BranchingRange{6, 30} : BranchingRange{2, 2.6};
}

constexpr std::uint32_t kWidestHistogram = 4096;

// Rough shares are enough to rank trees.
constexpr int kRoughIterations = 3;
constexpr int kMostIterations = 100;
constexpr double kShareTolerance = 1e-9;
// A level with hardly any budget is better left out.
constexpr double kLeastShare = 1e-3;

void normalise(std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
}

// The error with a budget of 1.
double error_of(const LevelTree& tree, PrivacyMeasure measure, std::span<const double> shares) {
  return PrefixVariance(tree, level_weights(measure, shares)).average();
}

// Minus the derivative of the error with respect to each share.
std::vector<double> gains(const LevelTree& tree, PrivacyMeasure measure,
                          std::vector<double> shares) {
  constexpr double kStep = 1e-4;
  std::vector<double> gains(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double share = shares[i];
    if (share == 0) continue;
    const double step = share * kStep;
    shares[i] = share - step;
    const double before = error_of(tree, measure, shares);
    shares[i] = share + step;
    gains[i] = std::max((before - error_of(tree, measure, shares)) / (2 * step), 0.0);
    shares[i] = share;
  }
  return gains;
}

struct Candidate {
  std::vector<std::uint32_t> branching;
  std::vector<double> shares;
  double error = std::numeric_limits<double>::infinity();
};

// Without the least-squares step the error is the sum of a_i / share_i^2 (pure) or a_i / share_i
// (zCDP). It is least when the shares are proportional to the cube root of a_i (pure) or to its
// square root (zCDP).
double share_root(PrivacyMeasure measure, double value) {
  return measure == PrivacyMeasure::kPure ? std::cbrt(value) : std::sqrt(value);
}

std::vector<double> first_shares(PrivacyMeasure measure,
                                 const std::vector<std::uint32_t>& branching) {
  std::vector<double> shares;
  for (const std::uint32_t n : branching) shares.push_back(share_root(measure, n));
  normalise(shares);
  return shares;
}

// Without the least-squares step the gains are 2 a_i / share_i^3 or a_i / share_i^2, and the update
// is exact. With that step it still points in the right direction.
std::vector<double> improve_shares(const LevelTree& tree, PrivacyMeasure measure,
                                   std::vector<double> shares, int iterations) {
  for (; iterations > 0; --iterations) {
    const std::vector<double> gain = gains(tree, measure, shares);
    std::vector<double> next = shares;
    for (std::size_t i = 0; i < shares.size(); ++i) next[i] *= share_root(measure, gain[i]);
    normalise(next);
    double change = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      change = std::max(change, std::abs(next[i] - shares[i]));
    }
    shares = std::move(next);
    if (change < kShareTolerance) break;
  }
  return shares;
}

// The least last branching with which the tree reaches all bins.
std::uint32_t least_last(std::uint32_t bins, std::span<const std::uint32_t> upper) {
  std::uint64_t product = 1;
  for (const std::uint32_t n : upper) product *= n;
  return static_cast<std::uint32_t>((bins + product - 1) / product);
}

std::size_t levels_for(std::uint32_t bins, double average_branching) {
  return static_cast<std::size_t>(std::log(bins) / std::log(average_branching));
}

// Searches for the tree of least error over `bins` bins.
class TreeSearch {
 public:
  TreeSearch(std::uint32_t bins, PrivacyMeasure measure) : bins_(bins), measure_(measure) {}

  CdfTree best() const {
    Candidate best{{bins_}, {1.0}};
    if (bins_ <= kWidestHistogram) {
      best.error = error_of(LevelTree(bins_, best.branching), measure_, best.shares);
    }
    const auto [narrowest, widest] = branching_range(measure_);
    const std::size_t most = std::min(levels_for(bins_, narrowest) + 1, LevelTree::kMaxLevels);
    for (std::size_t levels = std::max<std::size_t>(2, levels_for(bins_, widest)); levels <= most;
         ++levels) {
      Candidate candidate = best_of(levels);
      if (candidate.error < best.error) best = std::move(candidate);
    }
    return {std::move(best.branching), std::move(best.shares)};
  }

 private:
  Candidate best_of(std::size_t levels) const {
    const double root = std::pow(bins_, 1 / static_cast<double>(levels));
    std::vector<std::uint32_t> equal(levels,
                                     static_cast<std::uint32_t>(std::max(2.0, std::round(root))));
    equal.back() = std::max(2u, least_last(bins_, std::span(equal).first(levels - 1)));
    Candidate best = evaluate(equal, first_shares(measure_, equal), kRoughIterations);
    if (!std::isfinite(best.error)) return best;
    for (;;) {
      const double before = best.error;
      for (std::size_t level = 0; level < levels; ++level) best = improve(best, level);
      if (!(best.error < before)) break;
    }
    return evaluate(best.branching, best.shares, kMostIterations);
  }

  // The best tree among `start` and the trees that differ from it in the branching of one level. If
  // that is not the last level, the last branching is adjusted to it.
  Candidate improve(const Candidate& start, std::size_t level) const {
    Candidate best = start;
    const std::uint32_t current = start.branching[level];
    for (std::uint32_t n = std::max(2u, current / 2); n <= 2 * current + 2; ++n) {
      std::vector<std::uint32_t> branching = start.branching;
      branching[level] = n;
      if (level + 1 < branching.size()) {
        const std::uint32_t least =
            least_last(bins_, std::span(branching).first(branching.size() - 1));
        branching.back() = std::max(least, (start.branching.back() * current + n / 2) / n);
      }
      Candidate candidate = evaluate(std::move(branching), start.shares, kRoughIterations);
      if (candidate.error < best.error) best = std::move(candidate);
    }
    return best;
  }

  // The error stays infinite for a tree of invalid shape and for a tree with a level that is not
  // worth its budget.
  Candidate evaluate(std::vector<std::uint32_t> branching, std::vector<double> start,
                     int iterations) const {
    Candidate candidate;
    if (!LevelTree::is_valid(bins_, branching)) return candidate;
    const LevelTree tree(bins_, branching);
    candidate.branching = std::move(branching);
    candidate.shares = improve_shares(tree, measure_, std::move(start), iterations);
    if (std::ranges::min(candidate.shares) < kLeastShare) return candidate;
    candidate.error = error_of(tree, measure_, candidate.shares);
    return candidate;
  }

  std::uint32_t bins_;
  PrivacyMeasure measure_;
};

CdfTree binary_tree(std::uint32_t bins) {
  CdfTree tree{{bins == 1 ? 1u : 2u}, {}};
  for (std::uint64_t leaves = 2; leaves < bins; leaves *= 2) tree.branching.push_back(2);
  tree.shares.assign(tree.branching.size(), 1 / static_cast<double>(tree.branching.size()));
  return tree;
}

}  // namespace

std::vector<double> level_weights(PrivacyMeasure measure, std::span<const double> budgets) {
  std::vector<double> weights(budgets.begin(), budgets.end());
  for (double& weight : weights) {
    weight *= measure == PrivacyMeasure::kPure ? weight / 2 : 2;
  }
  return weights;
}

std::vector<double> best_shares(const LevelTree& tree, PrivacyMeasure measure) {
  std::vector<std::uint32_t> branching;
  for (std::size_t level = 0; level < tree.levels(); ++level) {
    branching.push_back(tree.branching(level));
  }
  return improve_shares(tree, measure, first_shares(measure, branching), kMostIterations);
}

CdfTree choose_cdf_tree(CdfMethod method, std::uint32_t bins, PrivacyMeasure measure) {
  switch (method) {
    case CdfMethod::kTree:
      return TreeSearch(bins, measure).best();
    case CdfMethod::kBinary:
      return binary_tree(bins);
    case CdfMethod::kHistogram:
      return {{bins}, {1.0}};
    case CdfMethod::kFactorization:
      break;
  }
  throw std::invalid_argument("the method has no tree");
}

}  // namespace dpquantile
