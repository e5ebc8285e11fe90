#pragma once

#include <span>

#include "core/privacy/mechanism.hpp"
#include "pg/parameters/prepared_mechanism.hpp"
#include "pg/server/boundary.hpp"
#include "pg/state/expanded_records.hpp"

extern "C" {
#include "nodes/extensible.h"
}

// A final function has two callers. PostgreSQL's Agg node gets the group's state from it. The
// release node, which has charged the budget by then, gives it this state back and gets the answer.
namespace dpquantile {

// What the release node knows of a private aggregate that it has charged.
struct ChargedCall {
  const AggregateParameters* parameters;  // as the query states them, and as the states have them
  const AggregateParameters* drawn;       // those of the mechanism, with the guarantee of the noise
  const Mechanism* mechanism;             // made by the family's FamilyRow::prepare
  RandomStream* random;                   // for the noise
  const uint64* bounded_users;            // the users who are left in the group, or null
  // Where a sum, a mean or a spread puts its 95 % error, and a statistic of pairs that of its
  // covariance, as a part of it; or null
  double* error;
};

// The context in which the release node calls a final function.
struct ReleaseContext {
  ExtensibleNode node;
  ChargedCall call;
};

// A context for this call, whose pointers it keeps. Final functions recognise it by its node.
ReleaseContext make_release_context(const ChargedCall& call);

// A group that has been charged and may be answered.
struct ChargedGroup {
  const AggregateParameters* parameters;  // ChargedCall::drawn
  StateRef state;                         // none without records
  const Mechanism* mechanism;
  RandomStream* random;
  const uint64* bounded_users;  // as in ChargedCall
  double* error;                // as in ChargedCall

  // The records, for a method with records of this kind. The caller may reorder them.
  std::span<float8> values() const;
  std::span<UserRow> user_rows() const;
  // The grids of dp_user_grid_stats; null without records.
  GridNames* grid_names() const;
  // The counts of records on the value grid. Throws Cancelled, std::bad_alloc.
  Histogram histogram(const Workspace& work) const;
  // The number of records in each cell of the value grid. Throws Cancelled, std::bad_alloc.
  std::pmr::vector<std::uint64_t> counts(const Workspace& work) const;
};

// Whether the release node calls the final function. If not, the caller must return
// state_for_release().
bool called_by_release(FunctionCallInfo fcinfo);

// The state of the group. ereports unless PostgreSQL's executor calls the final function for an
// aggregate below a release node.
Datum state_for_release(FunctionCallInfo fcinfo);

// The type of the answers that the final function is declared to return: one, or an array of them.
// ereports if the private aggregates have no values of this type.
ValueType answer_type(FunctionCallInfo fcinfo);

// The group of a call by the release node. ereports if its state belongs to other parameters than
// those that were charged.
ChargedGroup charged_group(FunctionCallInfo fcinfo);

// Draws a release for the group: calls draw(const MechanismContext&) with scratch memory, as
// with_scratch() does. ereports what draw throws.
template <class Draw>
void with_mechanism_context(const ChargedGroup& group, Draw draw) {
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    draw(MechanismContext(*group.random, cancel, &memory));
  });
}

}  // namespace dpquantile
