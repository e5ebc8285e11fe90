#pragma once

#include "core/base/workspace.hpp"
#include "core/cdf/cdf_error_figures.hpp"
#include "core/cdf/cdf_plan.hpp"

namespace dpquantile {

// The errors that a release with this plan keeps to with probability `confidence`. They depend on
// public parameters only. Monte Carlo: noise is drawn from its law and post-processed thousands of
// times from a fixed seed, so that everybody gets the same figures. The quantiles are taken three
// standard errors higher, so that the figures hold. The steps after least squares (monotone,
// clipped) never widen an error that holds everywhere. Rounding to whole rows is included.
//
// For trees of more than 4096 nodes the lower part is drawn from a pool of simulated subtrees. The
// figures of method kFactorization for more than 4096 bins are bounds without simulation
// (factorization_error.hpp).
//
// Throws ParameterError (confidence), Cancelled, std::bad_alloc.
CdfError simulate_cdf_error(const CdfPlan& plan, double confidence, const Workspace& work);

}  // namespace dpquantile
