#pragma once

#include "core/cdf/cdf_error.hpp"
#include "core/cdf/fraction_error.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// The error of releases with this plan, as simulate_cdf_error() gives it. A simulation takes up to
// some hundred milliseconds, so the session keeps its last results: a curve's error, its band and
// its picture need one simulation. Plan, confidence and error are public. Throws what
// simulate_cdf_error() throws.
CdfError session_cdf_error(const CdfPlan& plan, double confidence, const Workspace& work);

// The same for fraction_errors().
FractionErrors session_fraction_errors(const CdfPlan& plan, double confidence,
                                       const Workspace& work);

}  // namespace dpquantile
