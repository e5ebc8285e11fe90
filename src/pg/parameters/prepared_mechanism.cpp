#include "pg/parameters/prepared_mechanism.hpp"

#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/iqr/iqr_by_quantiles.hpp"
#include "core/iqr/iqr_method.hpp"
#include "core/iqr/iqr_plan.hpp"
#include "core/moments/noisy_sum.hpp"
#include "core/noisy_histogram/modal_bin.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/user_level/bounded_sums.hpp"
#include "core/user_level/user_noise.hpp"
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

// `parts`: the numbers of method bounded to which a row adds.
const Mechanism* prepare_user_sums(const AggregateParameters& parameters, unsigned parts,
                                   ContextMemory& memory) {
  const PrivacyParameter privacy = privacy_of(&parameters);
  const PrivacyCost cost = user_cost(privacy);
  if (static_cast<UserMethod>(parameters.method) != UserMethod::kBounded) {
    return make<Mechanism>(memory, same_costs(cost));
  }
  const double change = bounded_units(parts, parameters.max_contributions, privacy).change_by_row;
  return make<Mechanism>(memory, ReleaseCosts{cost, replacing_cost_of_noise(privacy, change)});
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

ReleaseCosts costs_of_call(const AggregateParameters* parameters) {
  const PreparedMechanism prepared = prepare_mechanism(parameters, CurrentMemoryContext);
  const ReleaseCosts costs = prepared.mechanism->costs();
  MemoryContextDelete(prepared.context);
  return costs;
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
      return make<Mechanism>(memory, same_costs(iqr_cost(parameters.guarantee, parameters.delta)));
    case IqrMethod::kQuantiles:
      return make<IqrByQuantiles>(memory, parameters.grid, parameters.guarantee, &memory);
  }
  throw std::logic_error("a method of dp_iqr without a mechanism");
}

const Mechanism* prepare_user_mean(const AggregateParameters& parameters, ContextMemory& memory) {
  return prepare_user_sums(parameters, kMeanParts, memory);
}

const Mechanism* prepare_user_variance(const AggregateParameters& parameters,
                                       ContextMemory& memory) {
  return prepare_user_sums(parameters, kVarianceParts, memory);
}

const Mechanism* prepare_user_grids(const AggregateParameters& parameters, ContextMemory& memory) {
  return make<Mechanism>(memory, same_costs(user_cost(privacy_of(&parameters))));
}

const Mechanism* prepare_number(const AggregateParameters& parameters, ContextMemory& memory) {
  return make<Mechanism>(memory, same_costs(integer_noise_cost(privacy_of(&parameters))));
}

const Mechanism* prepare_sum(const AggregateParameters& parameters, ContextMemory& memory) {
  const PrivacyParameter privacy = privacy_of(&parameters);
  const SumScale scale = SumScale::create(parameters.lower, parameters.upper);
  const double change = largest_change_of_sum(scale, privacy);
  return make<Mechanism>(
      memory, ReleaseCosts{integer_noise_cost(privacy), replacing_cost_of_noise(privacy, change)});
}

const Mechanism* prepare_vector(const AggregateParameters& parameters, ContextMemory& memory) {
  return make<Mechanism>(memory, vector_noise_costs(integer_noise_cost(privacy_of(&parameters))));
}

const Mechanism* prepare_modal_bin(const AggregateParameters& parameters, ContextMemory& memory) {
  return make<Mechanism>(memory, modal_bin_costs(parameters.guarantee));
}

const Mechanism* prepare_keep_group(const AggregateParameters& parameters, ContextMemory& memory) {
  const PrivacyCost cost = selection_cost(parameters.guarantee, parameters.delta);
  return make<GroupSelectionMechanism>(memory, same_costs(cost), std::uint64_t{1});
}

const Mechanism* prepare_keep_user_group(const AggregateParameters& parameters,
                                         ContextMemory& memory) {
  // A row that appears may take its user out of another group: two decisions change.
  const std::uint64_t groups = parameters.max_groups;
  const PrivacyCost cost = selection_cost(parameters.guarantee, parameters.delta, groups);
  const double change = 2 / static_cast<double>(groups);
  return make<GroupSelectionMechanism>(memory, multiplied_costs(cost, change), groups);
}

}  // namespace dpquantile
