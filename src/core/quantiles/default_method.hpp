#pragma once

#include "core/privacy/privacy_cost.hpp"
#include "core/quantiles/quantiles_query.hpp"

namespace dpquantile {

// The method of a call that names none: kBlocks if a budget with these terms pays no more for it
// than for kApproximate, otherwise kApproximate. It is kApproximate also for one quantile, for
// which both are the same, and for an epsilon or rho so large that joint draws cannot use it. It
// depends on public parameters alone. The query must be valid; its method is ignored.
QuantilesMethod default_method(const QuantilesQuery& query, const BudgetTerms& terms);

}  // namespace dpquantile
