#pragma once

#include "core/cdf/cdf.hpp"
#include "pg/aggregate/charged_group.hpp"

// The plans of the noise of counts. Choosing one takes as long as a charge, so they are kept.
namespace dpquantile {

// choose_cdf_plan() of these parameters. The last one of the session is kept, for the next query or
// what else needs it in this one; valid until the next call.
const CdfPlan& session_cdf_plan(CdfMethod method, uint32 bins, const PrivacyParameter& privacy);

// The same for a group's query: kept for its other groups too, whatever plans other aggregates of
// the query have. ereports.
const CdfPlan* query_cdf_plan(const ChargedGroup& group, FunctionCallInfo fcinfo, CdfMethod method,
                              uint32 bins, const PrivacyParameter& privacy);

}  // namespace dpquantile
