#pragma once

#include "core/cdf/cdf_error.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// The error of releases with this plan, kept in fn_extra from call to call: simulating it takes
// some milliseconds. ereports for a confidence out of range.
const CdfError* cdf_error_of(FunctionCallInfo fcinfo, const CdfPlan& plan, double confidence);

}  // namespace dpquantile
