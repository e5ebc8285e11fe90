#include "core/quantiles/recursive_quantiles.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/joint_mechanism.hpp"

namespace dpquantile {

namespace {

// A stretch of the axis, and the quantiles at its ends.
struct Stretch {
  PositionInterval interval;
  double low;
  double high;
};

class RecursiveQuantiles {
 public:
  RecursiveQuantiles(const SmearedRank& rank, const RecursionPlan& plan,
                     const MechanismContext& context)
      : rank_(rank), plan_(plan), context_(context) {}

  void answer(std::span<const double> quantiles, std::span<std::uint32_t> answers,
              const Stretch& stretch, std::size_t level) {
    if (quantiles.empty()) return;
    context_.cancel.check();
    const auto [begin, end] = stretch.interval;
    if (begin >= end || cell_at(begin) == cell_at(end - 1)) {
      // Only one cell is left, so this is post-processing of the draws above.
      std::ranges::fill(answers, static_cast<std::uint32_t>(cell_at(begin)));
      return;
    }
    if (level == plan_.size()) throw std::logic_error("the plan has too few levels");
    if (plan_[level].quantiles == 1 || quantiles.size() == 1) {
      answer_one(quantiles, answers, stretch, level);
    } else {
      answer_several(quantiles, answers, stretch, level);
    }
  }

 private:
  void answer_one(std::span<const double> quantiles, std::span<std::uint32_t> answers,
                  const Stretch& stretch, std::size_t level) {
    const std::size_t middle = drawn_quantile(quantiles.size(), 1, 0);
    const double q = relative(quantiles[middle], stretch);
    const Position cut =
        draw_quantile_position(rank_, stretch.interval, q, plan_[level].epsilon, context_);
    answers[middle] = static_cast<std::uint32_t>(cell_at(cut));
    answer(quantiles.first(middle), answers.first(middle),
           {{stretch.interval.begin, cut}, stretch.low, quantiles[middle]}, level + 1);
    answer(quantiles.subspan(middle + 1), answers.subspan(middle + 1),
           {{cut, stretch.interval.end}, quantiles[middle], stretch.high}, level + 1);
  }

  void answer_several(std::span<const double> quantiles, std::span<std::uint32_t> answers,
                      const Stretch& stretch, std::size_t level) {
    const std::size_t drawn = std::min<std::size_t>(plan_[level].quantiles, quantiles.size());
    const auto chosen = [&](std::size_t i) { return drawn_quantile(quantiles.size(), drawn, i); };
    std::pmr::vector<double> relatives(context_.memory);
    for (std::size_t i = 0; i < drawn; ++i) {
      relatives.push_back(relative(quantiles[chosen(i)], stretch));
    }
    std::pmr::vector<Position> cuts(drawn, context_.memory);
    draw_joint_positions(rank_, stretch.interval, relatives, plan_[level].epsilon, context_, cuts);

    std::size_t next = 0;
    Stretch left = stretch;
    for (std::size_t i = 0; i < drawn; ++i) {
      const std::size_t here = chosen(i);
      answers[here] = static_cast<std::uint32_t>(cell_at(cuts[i]));
      left.interval.end = cuts[i];
      left.high = quantiles[here];
      answer(quantiles.subspan(next, here - next), answers.subspan(next, here - next), left,
             level + 1);
      left.interval.begin = cuts[i];
      left.low = quantiles[here];
      next = here + 1;
    }
    left.interval.end = stretch.interval.end;
    left.high = stretch.high;
    answer(quantiles.subspan(next), answers.subspan(next), left, level + 1);
  }

  static double relative(double quantile, const Stretch& stretch) {
    return (quantile - stretch.low) / (stretch.high - stretch.low);
  }

  const SmearedRank& rank_;
  const RecursionPlan& plan_;
  MechanismContext context_;
};

}  // namespace

void draw_recursively(const SmearedRank& rank, std::uint64_t cells,
                      std::span<const double> quantiles, const RecursionPlan& plan,
                      const MechanismContext& context, std::span<std::uint32_t> answers) {
  RecursiveQuantiles(rank, plan, context)
      .answer(quantiles, answers, {{0, cell_start(cells)}, 0, 1}, 0);
}

}  // namespace dpquantile
