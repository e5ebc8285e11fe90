#pragma once

#include "core/cdf/cdf.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// choose_cdf_plan() of these parameters. Choosing a plan takes as long as a charge, so the last one
// of the session is kept for its next query.
CdfPlan session_cdf_plan(CdfMethod method, uint32 bins, const PrivacyParameter& privacy);

}  // namespace dpquantile
