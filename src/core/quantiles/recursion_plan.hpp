#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/quantiles/quantiles_query.hpp"

namespace dpquantile {

// A level of the recursion that draws quantiles: in each interval of the level so many quantiles
// are drawn together, by a mechanism of this bounded range.
struct RecursionLevel {
  std::uint32_t quantiles;
  double epsilon;

  bool operator==(const RecursionLevel&) const = default;
};

// How distinct quantiles are drawn: the quantiles of the first level cut the axis, those of the
// next level cut what lies between them, and so on. It depends on public parameters alone.
//
// Privacy: every level is epsilon-bounded-range for adding or removing one record, and so
// (epsilon^2 / 8)-zCDP; levels compose (docs/privacy.md, Theorem 4).
using RecursionPlan = std::vector<RecursionLevel>;

// One quantile at a time: ApproximateQuantiles, with floor(log2 m) + 1 levels.
RecursionPlan approximate_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy);

// All quantiles on one level.
RecursionPlan joint_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy);

// The plan of method auto but for small grids (resolved_method), of least error in the experiments
// of docs/experiments.md: under pure privacy few levels with several quantiles each, as every level
// costs a part of epsilon; under zCDP, where it costs a part of its square, one quantile a level,
// and of fewer than 24 two on the last where that saves a level.
RecursionPlan best_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy);

// The plan of a method that draws recursively: kApproximate, kJoint or kAuto.
RecursionPlan plan_for(QuantilesMethod method, std::size_t distinct_quantiles,
                       const PrivacyParameter& privacy);

// Which of `count` ascending quantiles is the i-th of the `drawn` ones that a level draws in an
// interval: they divide the others as evenly as may be. i < drawn <= count.
inline std::size_t drawn_quantile(std::size_t count, std::size_t drawn, std::size_t i) {
  return (i + 1) * (count + 1) / (drawn + 1) - 1;
}

// The zCDP of all levels together.
double rho_of_plan(const RecursionPlan& plan);

}  // namespace dpquantile
