#include "core/quantiles/recursion_plan.hpp"

#include <bit>
#include <cmath>

#include "core/privacy/zcdp.hpp"

namespace dpquantile {

namespace {

// The bounded range of each of `levels` equal levels.
double level_epsilon(const PrivacyParameter& privacy, std::size_t levels) {
  const auto count = static_cast<double>(levels);
  return privacy.measure == PrivacyMeasure::kPure ? privacy.value / count
                                                  : bounded_range_of_rho(privacy.value / count);
}

// The number of quantiles of each level of the best plan for zCDP.
std::vector<std::uint32_t> best_for_zcdp(std::size_t distinct) {
  constexpr std::size_t kMostWithTwo = 23;
  const auto depth = static_cast<std::size_t>(std::bit_width(distinct));
  const bool two_save_a_level =
      depth >= 2 && distinct <= kMostWithTwo && (std::size_t{3} << (depth - 2)) > distinct;
  std::vector<std::uint32_t> quantiles(two_save_a_level ? depth - 1 : depth, 1);
  if (two_save_a_level) quantiles.back() = 2;
  return quantiles;
}

// The same for pure privacy: one level as long as joint draws are fast; for more quantiles two
// levels, the second with two quantiles; for still more, as many levels of four quantiles as
// needed. The last levels draw few quantiles together: their intervals hold few records, and joint
// quantiles of few records stray into empty parts of the axis.
std::vector<std::uint32_t> best_for_pure(std::size_t distinct) {
  constexpr std::size_t kMostTogether = 16;
  constexpr std::uint32_t kTogetherOnLastOfTwo = 2;
  constexpr std::uint32_t kTogetherOnMoreLevels = 4;
  if (distinct <= kMostTogether) return {static_cast<std::uint32_t>(distinct)};
  const std::size_t first = distinct / (kTogetherOnLastOfTwo + 1);
  if (first <= kMostTogether) return {static_cast<std::uint32_t>(first), kTogetherOnLastOfTwo};
  std::vector<std::uint32_t> quantiles;
  for (std::size_t parts = 1; parts <= distinct; parts *= kTogetherOnMoreLevels + 1) {
    quantiles.push_back(kTogetherOnMoreLevels);
  }
  return quantiles;
}

// The part of epsilon of each level: 1.2 times the mean on the first level, falling to 0.8 times on
// the last. An error on the first level shifts all quantiles below.
std::vector<double> shares_for_pure(std::size_t levels) {
  std::vector<double> shares;
  const auto count = static_cast<double>(levels);
  for (std::size_t i = 0; i < levels; ++i) {
    const double from_middle = (count - 1) / 2 - static_cast<double>(i);
    const double tilt = levels == 1 ? 0 : 0.4 * from_middle / (count - 1);
    shares.push_back((1 + tilt) / count);
  }
  return shares;
}

// Blocks of four on all levels but the last, whose blocks are as small as the quantiles that are
// left there allow.
std::vector<std::uint32_t> blocks_for_pure(std::size_t distinct) {
  constexpr std::uint32_t kTogether = 4;
  std::vector<std::uint32_t> quantiles;
  std::size_t left = distinct;  // the most quantiles in an interval
  for (; left > kTogether; left /= kTogether + 1) quantiles.push_back(kTogether);
  if (left > 0) quantiles.push_back(static_cast<std::uint32_t>(left));
  return quantiles;
}

RecursionPlan tilted_plan(const std::vector<std::uint32_t>& quantiles,
                          const PrivacyParameter& privacy) {
  RecursionPlan plan;
  const std::vector<double> shares = shares_for_pure(quantiles.size());
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    plan.push_back({quantiles[i], privacy.value * shares[i]});
  }
  return plan;
}

RecursionPlan even_plan(const std::vector<std::uint32_t>& quantiles,
                        const PrivacyParameter& privacy) {
  RecursionPlan plan;
  const double epsilon = level_epsilon(privacy, quantiles.size());
  for (const std::uint32_t together : quantiles) plan.push_back({together, epsilon});
  return plan;
}

}  // namespace

RecursionPlan approximate_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy) {
  const auto levels = static_cast<std::size_t>(std::bit_width(distinct_quantiles));
  return RecursionPlan(levels, {1, level_epsilon(privacy, levels)});
}

RecursionPlan joint_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy) {
  return {{static_cast<std::uint32_t>(distinct_quantiles), level_epsilon(privacy, 1)}};
}

RecursionPlan best_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy) {
  return privacy.measure == PrivacyMeasure::kPure
             ? tilted_plan(best_for_pure(distinct_quantiles), privacy)
             : even_plan(best_for_zcdp(distinct_quantiles), privacy);
}

RecursionPlan block_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy) {
  return privacy.measure == PrivacyMeasure::kPure
             ? tilted_plan(blocks_for_pure(distinct_quantiles), privacy)
             : best_plan(distinct_quantiles, privacy);
}

RecursionPlan plan_for(QuantilesMethod method, std::size_t distinct_quantiles,
                       const PrivacyParameter& privacy) {
  switch (method) {
    case QuantilesMethod::kJoint:
      return joint_plan(distinct_quantiles, privacy);
    case QuantilesMethod::kAuto:
      return best_plan(distinct_quantiles, privacy);
    case QuantilesMethod::kBlocks:
      return block_plan(distinct_quantiles, privacy);
    default:
      return approximate_plan(distinct_quantiles, privacy);
  }
}

double rho_of_plan(const RecursionPlan& plan) {
  double rho = 0;
  for (const RecursionLevel& level : plan) rho += rho_of_bounded_range(level.epsilon);
  return rho;
}

}  // namespace dpquantile
