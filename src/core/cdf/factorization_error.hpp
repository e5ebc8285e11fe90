#pragma once

#include "core/base/workspace.hpp"
#include "core/cdf/cdf_error_figures.hpp"
#include "core/cdf/cdf_plan.hpp"

namespace dpquantile {

// The errors of simulate_cdf_error() for a plan of method kFactorization with very many bins,
// without simulation. The errors of the prefix counts are Gaussian, up to noise on a scale of a
// hundredth of a row, and their variances are known. The errors at one point are quantiles of that
// law over some bins. The errors everywhere come from the sum of the tail probabilities of all
// bins, so they hold with at least the probability `confidence`: they are up to a tenth larger than
// simulated ones.
//
// Throws Cancelled, std::bad_alloc.
CdfError bound_factorization_error(const CdfPlan& plan, double confidence, const Workspace& work);

}  // namespace dpquantile
