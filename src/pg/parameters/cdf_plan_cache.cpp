#include "pg/parameters/cdf_plan_cache.hpp"

namespace dpquantile {

CdfPlan session_cdf_plan(CdfMethod method, uint32 bins, const PrivacyParameter& privacy) {
  static CdfPlan kept{};
  if (kept.method != method || kept.bins != bins || kept.privacy != privacy) {
    kept = choose_cdf_plan(method, bins, privacy);
  }
  return kept;
}

}  // namespace dpquantile
