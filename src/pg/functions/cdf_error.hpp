#pragma once

#include "core/cdf/cdf_error.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// The error of releases with this law, kept in fn_extra from call to call: simulating it takes
// some milliseconds. ereports for a confidence out of range.
const CdfError* cdf_error_of(FunctionCallInfo fcinfo, const CdfLaw& law, double confidence);

}  // namespace dpquantile
