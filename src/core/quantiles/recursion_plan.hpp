#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/quantiles/quantiles_query.hpp"

namespace dpquantile {

// A level of the recursion that draws quantiles. Each interval of the level draws its quantiles
// together.
struct RecursionLevel {
  std::uint32_t quantiles;  // at most, in each interval
  double epsilon;           // the bounded range of the draw

  bool operator==(const RecursionLevel&) const = default;
};

// The levels of the recursion. The quantiles of the first level cut the axis into intervals, those
// of the next level cut these intervals, and so on. The plan depends on public parameters alone.
//
// Privacy: every level is epsilon-bounded-range for adding or removing one record, and so
// (epsilon^2 / 8)-zCDP; levels compose (docs/privacy.md, Theorem 4).
using RecursionPlan = std::vector<RecursionLevel>;

// One quantile on each level: ApproximateQuantiles, with floor(log2 m) + 1 levels for m quantiles.
RecursionPlan approximate_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy);

// All quantiles on one level.
RecursionPlan joint_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy);

// The plan of method auto where resolved_method() does not choose a tree. It has the least error in
// the experiments of docs/experiments.md. Under pure privacy every level costs a part of epsilon,
// so the plan has few levels with several quantiles each. Under zCDP every level costs a part of
// epsilon^2, so the plan has one quantile on each level; for fewer than 24 quantiles it has two on
// the last level if that saves a level.
RecursionPlan best_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy);

// The plan of method kBlocks. Under pure privacy it has as few levels as blocks of at most four
// quantiles allow. Under zCDP it is best_plan(), whose draws are of one or two quantiles.
RecursionPlan block_plan(std::size_t distinct_quantiles, const PrivacyParameter& privacy);

// The plan of a method that draws recursively: kApproximate, kJoint, kAuto or kBlocks.
RecursionPlan plan_for(QuantilesMethod method, std::size_t distinct_quantiles,
                       const PrivacyParameter& privacy);

// The index, among `count` ascending quantiles of an interval, of the i-th of the `drawn` quantiles
// that a level draws there. The drawn quantiles divide the others as evenly as possible. Requires
// i < drawn <= count.
inline std::size_t drawn_quantile(std::size_t count, std::size_t drawn, std::size_t i) {
  return (i + 1) * (count + 1) / (drawn + 1) - 1;
}

// The rho for which all levels together are rho-zCDP.
double rho_of_plan(const RecursionPlan& plan);

}  // namespace dpquantile
