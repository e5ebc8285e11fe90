#pragma once

#include "core/cdf/cdf_error.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// The error of releases with this plan, as simulate_cdf_error() gives it. The simulation takes some
// milliseconds, so fn_extra keeps the result from call to call. ereports if the confidence is out
// of range, if memory is short, or for a cancel.
const CdfError* cdf_error_of(FunctionCallInfo fcinfo, const CdfPlan& plan, double confidence);

}  // namespace dpquantile
