#pragma once

#include "core/privacy/mechanism.hpp"
#include "pg/parameters/aggregate_parameters.hpp"

// The mechanisms of calls: what they cost, known before anything is charged, and how they draw.
namespace dpquantile {

// A mechanism in a memory context of its own, which destroys it when it is reset or deleted.
struct PreparedMechanism {
  MemoryContext context;
  const Mechanism* mechanism;
};

// Prepares the mechanism of a call. It does not refer to the parameters. ereports.
PreparedMechanism prepare_mechanism(const AggregateParameters* parameters, MemoryContext parent);

// What a release of the call costs. ereports.
PrivacyCost cost_of_call(const AggregateParameters* parameters);

// --- The mechanisms of the families, for FamilyRow::prepare --------------------------------------
// They run inside guarded(), allocate from `memory` and throw.

// A QuantilesMechanism.
const Mechanism* prepare_quantiles(const AggregateParameters& parameters, ContextMemory& memory);
// A CdfMechanism.
const Mechanism* prepare_cdf(const AggregateParameters& parameters, ContextMemory& memory);
// An IqrByQuantiles for method quantiles.
const Mechanism* prepare_iqr(const AggregateParameters& parameters, ContextMemory& memory);
// The cost of an epsilon-differentially private mechanism without a plan.
const Mechanism* prepare_pure(const AggregateParameters& parameters, ContextMemory& memory);

}  // namespace dpquantile
