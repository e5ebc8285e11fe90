#include "pg/parameters/prepared_mechanism.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/iqr/iqr_by_quantiles.hpp"
#include "core/iqr/iqr_method.hpp"
#include "core/quantiles/quantiles.hpp"
#include "pg/parameters/cdf_plan_cache.hpp"
#include "pg/server/boundary.hpp"

namespace dpquantile {

namespace {

// Lives in the memory context of a mechanism and destroys the mechanism with it.
struct Owner {
  explicit Owner(MemoryContext context) : memory(context) {}

  ContextMemory memory;
  const Mechanism* mechanism = nullptr;
  MemoryContextCallback on_reset{};
};

void destroy(void* owner) {
  std::destroy_at(static_cast<Owner*>(owner)->mechanism);
}

template <class Prepared, class... Arguments>
const Mechanism* make(ContextMemory& memory, Arguments&&... arguments) {
  void* place = memory.allocate(sizeof(Prepared), alignof(Prepared));
  return new (place) Prepared(std::forward<Arguments>(arguments)...);
}

}  // namespace

PreparedMechanism prepare_mechanism(const AggregateParameters* parameters, MemoryContext parent) {
  MemoryContext context =
      AllocSetContextCreate(parent, "dpquantile mechanism", ALLOCSET_SMALL_SIZES);
  auto* owner = new (MemoryContextAlloc(context, sizeof(Owner))) Owner(context);
  report(guarded(
      [&] { owner->mechanism = family_of(parameters).prepare(*parameters, owner->memory); }));
  owner->on_reset.func = destroy;
  owner->on_reset.arg = owner;
  MemoryContextRegisterResetCallback(context, &owner->on_reset);
  return {context, owner->mechanism};
}

PrivacyCost cost_of_call(const AggregateParameters* parameters) {
  const PreparedMechanism prepared = prepare_mechanism(parameters, CurrentMemoryContext);
  const PrivacyCost cost = prepared.mechanism->cost();
  MemoryContextDelete(prepared.context);
  return cost;
}

const Mechanism* prepare_quantiles(const AggregateParameters& parameters, ContextMemory& memory) {
  return make<QuantilesMechanism>(memory, quantiles_query_of(&parameters), &memory,
                                  session_cdf_plan);
}

const Mechanism* prepare_cdf(const AggregateParameters& parameters, ContextMemory& memory) {
  return make<CdfMechanism>(memory, session_cdf_plan(static_cast<CdfMethod>(parameters.method),
                                                     parameters.bins, privacy_of(&parameters)));
}

const Mechanism* prepare_iqr(const AggregateParameters& parameters, ContextMemory& memory) {
  switch (static_cast<IqrMethod>(parameters.method)) {
    case IqrMethod::kProposeTestRelease:
      return make<Mechanism>(memory, approximate_cost(parameters.guarantee, parameters.delta));
    case IqrMethod::kQuantiles:
      return make<IqrByQuantiles>(memory, parameters.grid, parameters.guarantee, &memory);
  }
  throw std::logic_error("a method of dp_iqr without a mechanism");
}

const Mechanism* prepare_pure(const AggregateParameters& parameters, ContextMemory& memory) {
  return make<Mechanism>(memory, pure_cost(parameters.guarantee));
}

const Mechanism* prepare_measured(const AggregateParameters& parameters, ContextMemory& memory) {
  const PrivacyParameter privacy = privacy_of(&parameters);
  return make<Mechanism>(memory, cost_with_rho(privacy, rho_of_pure(privacy.value)));
}

const Mechanism* prepare_keep_group(const AggregateParameters& parameters, ContextMemory& memory) {
  const std::uint64_t groups = std::max<std::uint64_t>(parameters.max_contributions, 1);
  return make<GroupSelectionMechanism>(memory, parameters.guarantee, parameters.delta, groups);
}

}  // namespace dpquantile
