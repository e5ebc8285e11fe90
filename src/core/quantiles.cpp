#include "core/quantiles.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "core/rank_mechanism.hpp"
#include "core/text.hpp"

namespace dpquantile {

namespace {

// A stretch of the axis together with the quantiles that are its ends.
struct Stretch {
  PositionInterval interval;
  double low;
  double high;
};

// AQ (Kaplan, Schnapp, Stemmer 2022, Algorithm 1): draws the middle quantile, cuts the axis and the
// records' mass at the position drawn, and recurses on both sides.
class ApproximateQuantiles {
 public:
  ApproximateQuantiles(const SmearedRank& rank, double epsilon_per_level, RandomStream& random,
                       CancelPoll& cancel, std::pmr::memory_resource* memory)
      : rank_(rank),
        epsilon_per_level_(epsilon_per_level),
        random_(random),
        cancel_(cancel),
        memory_(memory) {}

  // Fills `answers` with a cell for each of the ascending, distinct quantiles of the stretch.
  void answer(std::span<const double> quantiles, std::span<std::uint32_t> answers,
              const Stretch& stretch) {
    if (quantiles.empty()) return;
    cancel_.check();
    const auto [begin, end] = stretch.interval;
    if (begin >= end || cell_at(begin) == cell_at(end - 1)) {
      // Only one cell can be answered: post-processing of the enclosing draws.
      std::fill(answers.begin(), answers.end(), static_cast<std::uint32_t>(cell_at(begin)));
      return;
    }

    const std::size_t middle = (quantiles.size() - 1) / 2;
    const double q = (quantiles[middle] - stretch.low) / (stretch.high - stretch.low);
    const Position cut = draw_quantile_position(rank_, stretch.interval, q, epsilon_per_level_,
                                                random_, cancel_, memory_);
    answers[middle] = static_cast<std::uint32_t>(cell_at(cut));
    answer(quantiles.first(middle), answers.first(middle),
           Stretch{{begin, cut}, stretch.low, quantiles[middle]});
    answer(quantiles.subspan(middle + 1), answers.subspan(middle + 1),
           Stretch{{cut, end}, quantiles[middle], stretch.high});
  }

 private:
  const SmearedRank& rank_;
  double epsilon_per_level_;
  RandomStream& random_;
  CancelPoll& cancel_;
  std::pmr::memory_resource* memory_;
};

std::pmr::vector<double> sorted_distinct(std::span<const double> quantiles,
                                         std::pmr::memory_resource* memory) {
  std::pmr::vector<double> sorted(quantiles.begin(), quantiles.end(), memory);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

}  // namespace

void check_quantiles(std::span<const double> quantiles) {
  if (quantiles.empty() || quantiles.size() > kMaxQuantiles) {
    throw ParameterError(
        "quantiles must have 1 to 4096 elements, got " + std::to_string(quantiles.size()),
        "Ask for 1 to 4096 quantiles, for example ARRAY[0.25, 0.5, 0.75].");
  }
  for (const double quantile : quantiles) {
    if (quantile >= 0 && quantile <= 1) continue;
    throw ParameterError("a quantile must be between 0 and 1, got " + shortest_decimal(quantile),
                         "The median is 0.5, the 95th percentile 0.95.");
  }
}

unsigned recursion_depth(std::size_t distinct_quantiles) {
  return static_cast<unsigned>(std::bit_width(distinct_quantiles));
}

std::pmr::vector<std::uint32_t> approximate_quantiles(const Histogram& data, std::uint64_t cells,
                                                      std::span<const double> quantiles,
                                                      double epsilon, RandomStream& random,
                                                      CancelPoll& cancel,
                                                      std::pmr::memory_resource* memory) {
  check_epsilon(epsilon);
  check_quantiles(quantiles);
  if (data.total() > kMaxRecords) throw std::length_error("more than 4294967295 records");

  const std::pmr::vector<double> distinct = sorted_distinct(quantiles, memory);
  std::pmr::vector<std::uint32_t> distinct_answers(distinct.size(), memory);
  const SmearedRank rank(data);
  ApproximateQuantiles recursion(rank, epsilon / recursion_depth(distinct.size()), random, cancel,
                                 memory);
  recursion.answer(distinct, distinct_answers, Stretch{{0, cell_start(cells)}, 0, 1});

  std::pmr::vector<std::uint32_t> answers(memory);
  answers.reserve(quantiles.size());
  for (const double quantile : quantiles) {
    const auto found = std::lower_bound(distinct.begin(), distinct.end(), quantile);
    answers.push_back(distinct_answers[static_cast<std::size_t>(found - distinct.begin())]);
  }
  return answers;
}

}  // namespace dpquantile
