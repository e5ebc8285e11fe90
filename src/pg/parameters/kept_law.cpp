#include "pg/parameters/kept_law.hpp"

#include "pg/server/boundary.hpp"

namespace dpquantile {

namespace {

bool is_law_of(const CdfLaw& law, CdfMethod method, uint32 bins, const PrivacyParameter& privacy) {
  return law.method == method && law.bins == bins && law.privacy == privacy;
}

}  // namespace

const CdfLaw& session_law(CdfMethod method, uint32 bins, const PrivacyParameter& privacy) {
  static CdfLaw law{};
  if (!is_law_of(law, method, bins, privacy)) law = choose_cdf_law(method, bins, privacy);
  return law;
}

const CdfLaw* query_law(const ChargedGroup& group, FunctionCallInfo fcinfo, CdfMethod method,
                        uint32 bins, const PrivacyParameter& privacy) {
  auto* kept = static_cast<CdfLaw*>(*group.kept);
  if (kept != nullptr && is_law_of(*kept, method, bins, privacy)) return kept;
  if (kept == nullptr) {
    kept = static_cast<CdfLaw*>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(CdfLaw)));
  }
  report(guarded([&] { *kept = session_law(method, bins, privacy); }));
  *group.kept = kept;
  return kept;
}

}  // namespace dpquantile
