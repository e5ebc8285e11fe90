#pragma once

#include <span>

#include "core/privacy/mechanism_context.hpp"
#include "pg/parameters/prepared_mechanism.hpp"
#include "pg/server/boundary.hpp"
#include "pg/state/expanded_records.hpp"

// A final function charges the budget before it draws its answer.
namespace dpquantile {

// A group that has been charged and may be answered.
struct ChargedGroup {
  const AggregateParameters* parameters;
  StateRef state;              // none without records
  const Mechanism* mechanism;  // made by the family's FamilyRow::prepare
  RandomStream* random;        // for the noise

  // The records, for a method with records of this kind. The caller may reorder them.
  std::span<float8> values() const;
  std::span<UserRow> user_rows() const;
  // The grids of dp_user_grid_stats; null without records.
  GridNames* grid_names() const;
  // The counts of records on the value grid. Throws Cancelled, std::bad_alloc.
  Histogram histogram(const Workspace& work) const;
};

// Charges for the group of this call of a final function, and returns it. For a row-level
// aggregate, the first group of an execution pays for all groups: they are disjoint (parallel
// composition, docs/privacy.md). For a user-level aggregate, every group pays for itself: a user
// may be in several. ereports if the call is not valid or the budget refuses the charge. Then
// nothing may be released.
ChargedGroup charge_group(FunctionCallInfo fcinfo, Family family);

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
