#pragma once

#include "core/cdf/cdf_error.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// The error of releases with this plan, as session_cdf_error() gives it. ereports if the confidence
// is out of range, if memory is short, or for a cancel.
CdfError cdf_error_of(const CdfPlan& plan, double confidence);

}  // namespace dpquantile
