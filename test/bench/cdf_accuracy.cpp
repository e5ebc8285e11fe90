// Accuracy of dp_cdf in the setting of Manohar's poster: about 1000 bins, epsilon = 0.01. The
// figures are errors in rows that 95 % of the releases do not exceed. Every error is measured on
// real draws over a generated table.
//
// usage: cdf_accuracy TRIALS
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "core/cdf/cdf.hpp"
#include "core/cdf/cdf_error.hpp"
#include "core/prefix_sums/estimate_variance.hpp"
#include "core/privacy/noise.hpp"
#include "core/tree/isotonic.hpp"
#include "core/tree/tree_variance.hpp"
#include "support/prefix_sum_limit.hpp"

namespace {

using namespace dpquantile;

constexpr std::uint32_t kBins = 1024;
constexpr double kEpsilon = 0.01;
constexpr double kConfidence = 0.95;
constexpr int kRows = 1'000'000;
constexpr double kPosterError = 9333;
constexpr std::uint32_t kManyIterationsUpTo = 4096;
constexpr std::uint32_t kIterationsUpTo = 65536;

using Cumulative = std::vector<double>;

double quantile(std::vector<double>& values, double q) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Log-normal incomes with median 50 000, in bins up to 500 000.
std::vector<std::uint64_t> count_incomes(RandomStream& random) {
  std::vector<std::uint64_t> counts(kBins);
  for (int i = 0; i < kRows; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - random.unit_real()));
    const double normal = radius * std::cos(2 * std::numbers::pi * random.unit_real());
    const double bin = 50000 * std::exp(0.6 * normal) / 500000 * kBins;
    ++counts[static_cast<std::size_t>(std::min<double>(bin, kBins - 1))];
  }
  return counts;
}

std::vector<std::uint64_t> count_uniform(RandomStream& random) {
  std::vector<std::uint64_t> counts(kBins);
  for (int i = 0; i < kRows; ++i) ++counts[random.uniform_below(kBins)];
  return counts;
}

Cumulative released(const std::vector<std::uint64_t>& counts, const CdfPlan& plan,
                    RandomStream& random) {
  CancelPoll cancel(nullptr);
  const auto cumulative =
      release_cdf(counts, plan, {random, cancel, std::pmr::new_delete_resource()});
  return {cumulative.begin(), cumulative.end()};
}

// The poster's method: a prefix is the sum of the noisy counts of its nodes, and then smoothed.
Cumulative without_consistency(const std::vector<std::uint64_t>& counts, const CdfPlan& plan,
                               RandomStream& random) {
  const LevelTree tree(plan.bins, plan.branching());
  Cumulative prefixes(plan.bins);
  for (std::size_t level = 1; level <= tree.levels(); ++level) {
    const Rational epsilon = rational_epsilon(plan.level_budget()[level - 1]);
    const auto width = static_cast<std::uint32_t>(tree.stride(level));
    std::vector<double> nodes(tree.nodes(level));
    for (double& node : nodes) {
      node =
          static_cast<double>(discrete_laplace(random, {epsilon.denominator, epsilon.numerator}));
    }
    for (std::uint32_t bin = 0; bin < plan.bins; ++bin)
      nodes[bin / width] += static_cast<double>(counts[bin]);
    // The prefix of k bins uses a node if it contains the node but not the node's parent.
    for (std::uint32_t k = 1; k <= plan.bins; ++k) {
      const std::uint32_t end = k / width;
      const std::uint32_t parents_end = end / tree.branching(level - 1) * tree.branching(level - 1);
      const bool at_top = level == 1;
      for (std::uint32_t node = at_top ? 0 : parents_end; node < end; ++node) {
        prefixes[k - 1] += nodes[node];
      }
    }
  }
  make_monotone(prefixes, std::pmr::new_delete_resource());
  return prefixes;
}

template <class Release>
void measure(const char* name, const std::vector<std::uint64_t>& counts, const CdfPlan& plan,
             int trials, RandomStream& random, Release release) {
  std::vector<double> of_points;
  std::vector<double> everywhere;
  std::vector<std::vector<double>> by_bin(plan.bins);
  for (int trial = 0; trial < trials; ++trial) {
    const Cumulative curve = release(counts, plan, random);
    double truth = 0;
    double largest = 0;
    for (std::uint32_t k = 0; k < plan.bins; ++k) {
      truth += static_cast<double>(counts[k]);
      const double error = std::abs(curve[k] - truth);
      of_points.push_back(error);
      by_bin[k].push_back(error);
      largest = std::max(largest, error);
    }
    everywhere.push_back(largest);
  }
  double worst = 0;
  for (auto& errors : by_bin) worst = std::max(worst, quantile(errors, kConfidence));
  std::printf("%-28s %10.0f %10.0f %14.0f\n", name, quantile(of_points, kConfidence), worst,
              quantile(everywhere, kConfidence));
  std::fflush(stdout);
}

void print_errors(const char* data, const std::vector<std::uint64_t>& counts, int trials,
                  RandomStream& random) {
  const CdfPlan tree = choose_cdf_plan(CdfMethod::kTree, kBins, pure(kEpsilon));
  const CdfPlan binary = choose_cdf_plan(CdfMethod::kBinary, kBins, pure(kEpsilon));
  const CdfPlan histogram = choose_cdf_plan(CdfMethod::kHistogram, kBins, pure(kEpsilon));
  std::printf(
      "\nError of a prefix count in rows, 95 %%: %d %s rows in %u bins, epsilon = %g, %d "
      "releases\n",
      kRows, data, kBins, kEpsilon, trials);
  std::printf("%-28s %10s %10s %14s\n", "method", "random bin", "worst bin", "all bins at once");
  measure("tree", counts, tree, trials, random, released);
  measure("binary", counts, binary, trials, random, released);
  measure("binary, without consistency", counts, binary, trials, random, without_consistency);
  measure("histogram", counts, histogram, trials, random, released);
  const CdfPlan zcdp_tree = choose_cdf_plan(CdfMethod::kTree, kBins, zcdp(kEpsilon * kEpsilon / 2));
  measure("tree, rho = epsilon^2 / 2", counts, zcdp_tree, trials, random, released);
  const CdfPlan factorization =
      choose_cdf_plan(CdfMethod::kFactorization, kBins, zcdp(kEpsilon * kEpsilon / 2));
  measure("factorization, the same rho", counts, factorization, trials, random, released);
  CancelPoll cancel(nullptr);
  const CdfError stated =
      simulate_cdf_error(tree, kConfidence, {cancel, std::pmr::new_delete_resource()});
  std::printf("%-28s %10.0f %10s %14.0f\n", "dp_cdf_expected_error: tree", stated.point, "",
              stated.everywhere);
  std::printf("%-28s %36.0f\n", "the poster's alpha", kPosterError);
}

// 16 x 17 x 17 as "16 x 17^2".
std::string branching_text(const CdfTree& tree) {
  std::string text;
  for (std::size_t i = 0; i < tree.branching.size();) {
    std::size_t end = i;
    while (end < tree.branching.size() && tree.branching[end] == tree.branching[i]) ++end;
    text += (text.empty() ? "" : " x ") + std::to_string(tree.branching[i]);
    if (end - i > 1) text += "^" + std::to_string(end - i);
    i = end;
  }
  return text;
}

// The variances of prefixes that no factorization goes below (docs/experiments.md, "The limits").
// Many bins get limits that are lower and faster to find.
struct Limits {
  double mean;
  double worst;
};

Limits limits_of(std::uint32_t bins) {
  if (bins <= kManyIterationsUpTo) {
    return {test::mean_variance_limit(bins, 10), test::worst_variance_limit(bins, 10)};
  }
  const double mean = bins <= kIterationsUpTo ? test::mean_variance_limit(bins, 2)
                                              : test::equal_weights_limit(bins);
  return {mean, mean};
}

void print_trees(PrivacyMeasure measure, const char* unit) {
  std::printf(
      "\nTrees of method 'tree': standard error of an average prefix, times %s. No mechanism is "
      "below the\nlimit for all data if %s is small.\n",
      unit, parameter_name(measure));
  std::printf("%9s  %-28s %8s %8s %8s %8s\n", "bins", "branching", "tree", "binary", "limit",
              "ratio");
  for (unsigned bits = 6; bits <= 20; ++bits) {
    const std::uint32_t bins = std::uint32_t{1} << bits;
    double errors[2];
    CdfTree chosen;
    for (const CdfMethod method : {CdfMethod::kBinary, CdfMethod::kTree}) {
      chosen = choose_cdf_tree(method, bins, measure);
      const LevelTree tree(bins, chosen.branching);
      errors[method == CdfMethod::kTree] =
          std::sqrt(PrefixVariance(tree, level_weights(measure, chosen.shares)).average());
    }
    const double limit =
        std::sqrt(limits_of(bins).mean / (measure == PrivacyMeasure::kZcdp ? 2 : 1));
    std::printf("%9u  %-28s %8.2f %8.2f %8.2f %8.2f\n", bins, branching_text(chosen).c_str(),
                errors[1], errors[0], limit, errors[1] / limit);
  }
}

struct Variances {
  double mean;
  double worst;
  double last;
};

// The variances of the prefix counts that method 'tree' estimates by least squares, times 2 rho.
Variances variances_of_tree(std::uint32_t bins) {
  const CdfTree chosen = choose_cdf_tree(CdfMethod::kTree, bins, PrivacyMeasure::kZcdp);
  const LevelTree tree(bins, chosen.branching);
  const PrefixVariance variance(tree, chosen.shares);
  return {variance.average(), variance.at(variance.worst()), variance.at(bins)};
}

// The same for method 'factorization'. Beyond kBins bins it looks at the middles of 32 equal parts.
Variances variances_of_factorization(std::uint32_t bins) {
  const PrefixFactorization factorization(bins, std::pmr::new_delete_resource());
  const EstimateVariance variance(factorization, std::pmr::new_delete_resource());
  const double unit = std::pow(static_cast<double>(factorization.sensitivity()), 2);
  const std::uint32_t points = bins <= kBins ? bins : 32;
  Variances all{0, 0, unit * variance.at(bins - 1).before};
  for (std::uint32_t i = 0; i < points; ++i) {
    const std::uint64_t k = (2 * i + 1) * std::uint64_t{bins} / (2 * points);
    const double one = unit * variance.at(static_cast<std::uint32_t>(k)).before;
    all.mean += one / points;
    all.worst = std::max(all.worst, one);
  }
  return all;
}

double band(CdfMethod method, std::uint32_t bins) {
  CancelPoll cancel(nullptr);
  return simulate_cdf_error(choose_cdf_plan(method, bins, zcdp(0.5)), kConfidence,
                            {cancel, std::pmr::new_delete_resource()})
      .everywhere;
}

void print_factorizations() {
  std::printf(
      "\nMethod 'factorization' against 'tree': variance of a prefix, times 2 rho, and the "
      "95 %% band at rho = 1/2.\n");
  std::printf("%9s  %-35s %-35s %-20s\n", "", "mean", "worst bin", "all bins at once");
  std::printf("%9s  %6s %6s %6s %6s %6s  %6s %6s %6s %6s %6s  %6s %6s %6s\n", "bins", "tree",
              "fact.", "ratio", "limit", "ratio", "tree", "fact.", "ratio", "limit", "ratio",
              "tree", "fact.", "ratio");
  for (unsigned bits = 6; bits <= 20; bits += 2) {
    const std::uint32_t bins = std::uint32_t{1} << bits;
    const Variances tree = variances_of_tree(bins);
    const Variances factorization = variances_of_factorization(bins);
    const Limits limits = limits_of(bins);
    const double tree_band = band(CdfMethod::kTree, bins);
    const double factorization_band = band(CdfMethod::kFactorization, bins);
    std::printf(
        "%9u  %6.2f %6.2f %6.3f %6.2f %6.3f  %6.2f %6.2f %6.3f %6.2f %6.3f  %6.0f %6.0f %6.3f   "
        "last bin %.2f, %.2f\n",
        bins, tree.mean, factorization.mean, factorization.mean / tree.mean, limits.mean,
        factorization.mean / limits.mean, tree.worst, factorization.worst,
        factorization.worst / tree.worst, limits.worst, factorization.worst / limits.worst,
        tree_band, factorization_band, factorization_band / tree_band, tree.last,
        factorization.last);
  }
  std::printf(
      "The limits are for Gaussian noise. Every mechanism has at least %.4f of them at rho = 1e-4, "
      "%.2f at 1/2.\n",
      2e-4 / test::chi_square_of_rho(1e-4), 1 / test::chi_square_of_rho(0.5));
}

void print_time() {
  constexpr std::uint32_t kManyBins = LevelTree::kMaxBins;
  const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, kManyBins, pure(1));
  const LevelTree tree(plan.bins, plan.branching());
  std::vector<double> nodes(tree.total_nodes(), 1);
  const auto start = std::chrono::steady_clock::now();
  cumulative_from_measurements(plan, nodes, std::pmr::new_delete_resource());
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::printf("\nPost-processing of %u bins: %.0f ms\n", kManyBins, time.count());
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 400;
  if (trials < 20) {
    std::fprintf(stderr, "usage: cdf_accuracy TRIALS (at least 20)\n");
    return 1;
  }
  CsprngSource source;
  RandomStream random(source);
  std::printf(
      "\"random bin\" is the error over all bins together, \"worst bin\" the largest of all "
      "bins.\n");
  print_errors("log-normal", count_incomes(random), trials, random);
  print_errors("uniform", count_uniform(random), trials, random);
  print_trees(PrivacyMeasure::kPure, "epsilon");
  print_trees(PrivacyMeasure::kZcdp, "sqrt(rho)");
  print_factorizations();
  print_time();
  return 0;
}
