#include "core/quantiles/quantiles_query.hpp"

#include <algorithm>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/quantiles/independent_quantiles.hpp"

namespace dpquantile {

namespace {

// Where counts on a tree have smaller errors than drawn quantiles. The error of a tree grows with
// the number of cells and hardly with the number of quantiles.
struct TreeRange {
  std::uint64_t most_cells;
  std::size_t fewest_quantiles;
};
constexpr TreeRange kTreeRanges[] = {{1 << 10, 17}, {1 << 15, 100}};

std::size_t count_distinct(std::span<const double> quantiles) {
  return sorted_distinct(quantiles, std::pmr::get_default_resource()).size();
}

void check_joint_quantiles(std::span<const double> quantiles) {
  const std::size_t distinct = count_distinct(quantiles);
  if (distinct <= kMaxJointQuantiles) return;
  throw ParameterError("method joint draws at most " + std::to_string(kMaxJointQuantiles) +
                           " different quantiles together, got " + std::to_string(distinct),
                       "Its time grows with the third power of their number. Method auto takes any "
                       "number.");
}

void check_independent_quantiles(const QuantilesQuery& query) {
  const double each = independent_epsilon(count_distinct(query.quantiles), query.privacy);
  if (each >= kMinIndependentEpsilon) return;
  throw ParameterError(
      "method independent needs an epsilon of at least 1e-7 for each quantile, got " +
          shortest_decimal(each),
      "Every quantile gets an equal part of the epsilon. Ask for fewer quantiles or for more "
      "epsilon, or take method auto.");
}

}  // namespace

std::pmr::vector<double> sorted_distinct(std::span<const double> quantiles,
                                         std::pmr::memory_resource* memory) {
  std::pmr::vector<double> sorted(quantiles.begin(), quantiles.end(), memory);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

void check_quantiles(std::span<const double> quantiles) {
  if (quantiles.empty() || quantiles.size() > kMaxQuantiles) {
    throw ParameterError(
        "quantiles must have 1 to 4096 elements, got " + std::to_string(quantiles.size()),
        "Ask for 1 to 4096 quantiles, for example ARRAY[0.25, 0.5, 0.75].");
  }
  for (const double quantile : quantiles) {
    if (quantile >= 0 && quantile <= 1) continue;
    throw ParameterError(Argument::kQuantiles,
                         "a quantile must be between 0 and 1, got " + shortest_decimal(quantile),
                         "The median is 0.5, the 95th percentile 0.95.");
  }
}

void check_quantiles_query(const QuantilesQuery& query) {
  check_quantiles(query.quantiles);
  check_privacy_parameter(query.privacy);
  if (query.method == QuantilesMethod::kJoint) check_joint_quantiles(query.quantiles);
  if (query.method == QuantilesMethod::kIndependent) check_independent_quantiles(query);
}

QuantilesMethod resolved_method(const QuantilesQuery& query) {
  if (query.method == QuantilesMethod::kDefault) return QuantilesMethod::kBlocks;
  if (query.method != QuantilesMethod::kAuto) return query.method;
  if (query.privacy.measure == PrivacyMeasure::kZcdp) return QuantilesMethod::kAuto;
  const std::size_t distinct = count_distinct(query.quantiles);
  const bool by_tree = std::ranges::any_of(kTreeRanges, [&](const TreeRange& range) {
    return query.cells <= range.most_cells && distinct >= range.fewest_quantiles;
  });
  return by_tree ? QuantilesMethod::kTree : QuantilesMethod::kAuto;
}

void check_synthesis_size(std::int64_t size) {
  if (size >= 1 && size <= static_cast<std::int64_t>(kMaxQuantiles)) return;
  throw ParameterError(Argument::kSize,
                       "size must be between 1 and 4096, got " + std::to_string(size),
                       "It is the number of synthetic values. Check the order of the arguments.");
}

}  // namespace dpquantile
