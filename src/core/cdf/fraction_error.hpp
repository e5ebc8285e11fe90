#pragma once

#include "core/base/workspace.hpp"
#include "core/cdf/cdf_error_figures.hpp"
#include "core/cdf/cdf_plan.hpp"

namespace dpquantile {

// The errors of fractions that are chosen before the release, with probability `confidence`. The
// variance of the estimates behind them is exact for a tree; for a factorization it is taken at a
// few bins, with a margin. The law is bounded by those between which sums of the noise lie: the
// Gaussian, and under epsilon that of one Laplace noise (docs/privacy.md, "Bands"). They depend on
// public parameters only.
//
// O(bins * levels) time. Throws ParameterError (confidence), Cancelled, std::bad_alloc.
FractionErrors fraction_errors(const CdfPlan& plan, double confidence, const Workspace& work);

}  // namespace dpquantile
