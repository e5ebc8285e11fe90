// dp_cdf: the aggregate.
#include "core/cdf/cdf.hpp"

#include "pg/aggregate/aggregate.hpp"
#include "pg/answers/cdf_type.hpp"
#include "pg/release/group_release.hpp"

namespace dpquantile {

namespace {

bytea* draw_answer(const ChargedGroup& group) {
  const auto& mechanism = static_cast<const CdfMechanism&>(*group.mechanism);
  bytea* value = nullptr;
  MemoryContext result = CurrentMemoryContext;
  with_mechanism_context(group, [&](const MechanismContext& context) {
    const auto counts = group.counts(context);
    const CdfCurve curve(domain_of(group.parameters), mechanism.plan(),
                         mechanism.release(counts, context));
    ContextMemory result_memory(result);
    value = make_cdf_value(curve, result_memory);
  });
  return value;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_cdf_transition) {
  return add_row(fcinfo, Family::kCdf);
}

// (state) returns dp_cdf
DPQ_FUNCTION(dpq_cdf_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  PG_RETURN_BYTEA_P(draw_answer(charged_group(fcinfo)));
}
