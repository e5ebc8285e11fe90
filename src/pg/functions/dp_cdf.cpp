// dp_cdf: the aggregate.
#include "core/cdf/cdf.hpp"

#include "pg/aggregate/aggregate.hpp"
#include "pg/aggregate/charged_group.hpp"
#include "pg/functions/cdf_type.hpp"
#include "pg/parameters/cdf_plan_cache.hpp"

namespace dpquantile {

namespace {

const CdfPlan* plan_of(const ChargedGroup& group, FunctionCallInfo fcinfo) {
  const AggregateParameters* parameters = group.parameters;
  return query_cdf_plan(group, fcinfo, static_cast<CdfMethod>(parameters->method), parameters->bins,
                        privacy_of(parameters));
}

// Draws the answer for a group that has been charged.
bytea* release(const ChargedGroup& group, const CdfPlan& plan) {
  bytea* value = nullptr;
  MemoryContext result = CurrentMemoryContext;
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    const MechanismContext context(*group.random, cancel, &memory);
    const auto counts = group.histogram(context).counts(plan.bins, &memory);
    const CdfCurve curve(domain_of(group.parameters), plan, release_cdf(counts, plan, context));
    ContextMemory result_memory(result);
    value = make_cdf_value(curve, result_memory);
  });
  return value;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value float8, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_cdf_transition) {
  return add_row(fcinfo, Family::kCdf);
}

DPQ_FUNCTION(dpq_cdf_transition_numeric) {
  return add_numeric_row(fcinfo, Family::kCdf);
}

// (state) returns dp_cdf
DPQ_FUNCTION(dpq_cdf_final) {
  const ChargedGroup group = charge_group(fcinfo, Family::kCdf);
  PG_RETURN_BYTEA_P(release(group, *plan_of(group, fcinfo)));
}
