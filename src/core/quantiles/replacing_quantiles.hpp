#pragma once

#include <span>

#include "core/privacy/mechanism.hpp"
#include "core/quantiles/recursion_plan.hpp"

// What quantiles cost for replacing the value of one row, rounded up. Proof: docs/privacy.md,
// Theorem 28.
namespace dpquantile {

// The bounded range of a draw of one quantile on the whole axis for replacing a record, as a
// multiple of that for adding one: 1 / max(q, 1 - q), from 1 to 2. No smaller one holds for every
// data set, except at q = 0 and 1.
double replacing_multiple(double quantile);

// The cost of quantiles that are drawn level by level. `distinct` are ascending, one at least.
// Levels below the first and draws of several quantiles cost twice their bounded range.
PrivacyCost replacing_cost_of_plan(const PrivacyParameter& privacy, const RecursionPlan& plan,
                                   std::span<const double> distinct);

// The same for quantiles that are drawn independently.
PrivacyCost replacing_cost_of_independent(const PrivacyParameter& privacy,
                                          std::span<const double> distinct);

}  // namespace dpquantile
