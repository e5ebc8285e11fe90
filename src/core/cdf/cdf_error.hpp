#pragma once

#include "core/base/workspace.hpp"
#include "core/cdf/cdf_plan.hpp"

namespace dpquantile {

// How far a release may be off, in rows. `*_fraction_rows` divided by the released number of rows,
// n^, bounds the error of a fraction: with F_k and n the true counts, |F^_k - F_k / n * n^| is at
// most `*_fraction_rows`.
struct CdfError {
  double point;                     // of one prefix count, for a bin chosen at random
  double point_fraction_rows;       // the same for fractions
  double everywhere;                // of all prefix counts at once
  double everywhere_fraction_rows;  // the same for fractions
};

// The errors that a release with this plan keeps to with probability `confidence`. They depend on
// public parameters only. Monte Carlo: noise is drawn from its law and post-processed thousands of
// times from a fixed seed, so that everybody gets the same figures. The quantiles are taken three
// standard errors higher, so that the figures hold. The steps after least squares (monotone,
// clipped) never widen an error that holds everywhere. Rounding to whole rows is included.
//
// For trees of more than 4096 nodes the lower part is drawn from a pool of simulated subtrees.
//
// Throws ParameterError (confidence), Cancelled, std::bad_alloc.
CdfError simulate_cdf_error(const CdfPlan& plan, double confidence, const Workspace& work);

}  // namespace dpquantile
