#pragma once

#include "core/cdf/cdf_plan.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// The plan that choose_cdf_plan() gives for these parameters. Choosing a plan takes as long as a
// charge, so the session keeps its last plan for the next query. Throws what choose_cdf_plan()
// throws.
CdfPlan session_cdf_plan(CdfMethod method, uint32 bins, const PrivacyParameter& privacy);

}  // namespace dpquantile
