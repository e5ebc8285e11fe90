#include "pg/parameters/cdf_plan_cache.hpp"

#include "pg/server/boundary.hpp"

namespace dpquantile {

namespace {

bool is_plan_of(const CdfPlan& plan, CdfMethod method, uint32 bins,
                const PrivacyParameter& privacy) {
  return plan.method == method && plan.bins == bins && plan.privacy == privacy;
}

}  // namespace

const CdfPlan& session_cdf_plan(CdfMethod method, uint32 bins, const PrivacyParameter& privacy) {
  static CdfPlan plan{};
  if (!is_plan_of(plan, method, bins, privacy)) plan = choose_cdf_plan(method, bins, privacy);
  return plan;
}

const CdfPlan* query_cdf_plan(const ChargedGroup& group, FunctionCallInfo fcinfo, CdfMethod method,
                              uint32 bins, const PrivacyParameter& privacy) {
  auto* kept = static_cast<CdfPlan*>(*group.kept);
  if (kept != nullptr && is_plan_of(*kept, method, bins, privacy)) return kept;
  if (kept == nullptr) {
    kept = static_cast<CdfPlan*>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(CdfPlan)));
  }
  report(guarded([&] { *kept = session_cdf_plan(method, bins, privacy); }));
  *group.kept = kept;
  return kept;
}

}  // namespace dpquantile
