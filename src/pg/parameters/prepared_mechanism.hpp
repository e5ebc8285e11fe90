#pragma once

#include "core/privacy/mechanism.hpp"
#include "core/selection/group_selection.hpp"
#include "pg/parameters/aggregate_parameters.hpp"

// The mechanisms of calls. Their costs are known before anything is charged.
namespace dpquantile {

// A mechanism in its own memory context. Resetting or deleting the context destroys the mechanism.
struct PreparedMechanism {
  MemoryContext context;
  const Mechanism* mechanism;
};

// Prepares the mechanism of a call in a child of `parent`. The mechanism keeps no pointer to the
// parameters. ereports what the family's prepare function throws.
PreparedMechanism prepare_mechanism(const AggregateParameters* parameters, MemoryContext parent);

// The costs of one release of the call. ereports as prepare_mechanism() does.
ReleaseCosts costs_of_call(const AggregateParameters* parameters);

// Which groups of dp_keep_group are shown.
struct GroupSelectionMechanism : Mechanism {
  GroupSelectionMechanism(const ReleaseCosts& costs, std::uint64_t groups_per_user)
      : Mechanism(costs), selection(*costs.own.epsilon, costs.own.delta, groups_per_user) {}

  GroupSelection selection;
};

// --- The mechanisms of the families, for FamilyRow::prepare --------------------------------------
// They run inside guarded() and allocate from `memory`. They throw std::bad_alloc, and
// ParameterError for parameters that a check would refuse; they never ereport.

// Makes a QuantilesMechanism.
const Mechanism* prepare_quantiles(const AggregateParameters& parameters, ContextMemory& memory);
// Makes a CdfMechanism.
const Mechanism* prepare_cdf(const AggregateParameters& parameters, ContextMemory& memory);
// Makes an IqrByQuantiles for method quantiles, and for propose-test-release a mechanism that holds
// only its cost.
const Mechanism* prepare_iqr(const AggregateParameters& parameters, ContextMemory& memory);
// The next four make a mechanism that holds only the costs of the call's guarantee, epsilon or
// rho: for noise on a number that a row changes by at most 1 in any way, on one sum of values, and
// on several sums or counts; and for the fullest of several bins.
const Mechanism* prepare_number(const AggregateParameters& parameters, ContextMemory& memory);
const Mechanism* prepare_sum(const AggregateParameters& parameters, ContextMemory& memory);
const Mechanism* prepare_vector(const AggregateParameters& parameters, ContextMemory& memory);
const Mechanism* prepare_modal_bin(const AggregateParameters& parameters, ContextMemory& memory);
// Both make a GroupSelectionMechanism.
const Mechanism* prepare_keep_group(const AggregateParameters& parameters, ContextMemory& memory);
const Mechanism* prepare_keep_user_group(const AggregateParameters& parameters,
                                         ContextMemory& memory);
// These make a mechanism that holds only the costs of a user-level call.
const Mechanism* prepare_user_mean(const AggregateParameters& parameters, ContextMemory& memory);
const Mechanism* prepare_user_variance(const AggregateParameters& parameters,
                                       ContextMemory& memory);
const Mechanism* prepare_user_grids(const AggregateParameters& parameters, ContextMemory& memory);

}  // namespace dpquantile
