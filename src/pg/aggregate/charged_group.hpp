#pragma once

#include <span>

#include "core/privacy/mechanism_context.hpp"
#include "pg/parameters/prepared_mechanism.hpp"
#include "pg/server/boundary.hpp"
#include "pg/state/expanded_records.hpp"

// The part of a final function up to the charge.
namespace dpquantile {

// A group that has been charged and may be answered.
struct ChargedGroup {
  const AggregateParameters* parameters;
  StateRef state;              // none without records
  const Mechanism* mechanism;  // as the family's FamilyRow::prepare made it
  RandomStream* random;        // for its noise

  // For parameters with records of that kind; they may be reordered.
  std::span<float8> values() const;
  std::span<UserRow> user_rows() const;
  // Of statistics over grids; null without records.
  GridNames* grid_names() const;
  // For records on a grid. May throw.
  Histogram histogram(const Workspace& work) const;
};

// Charges for the group that the final function is called for, and gives it. Of the row-level
// aggregates the first group of an execution pays for all (they are disjoint: parallel composition,
// docs/privacy.md); of the user-level ones, where a user may be in several, each group pays for
// itself. ereports if it may not be answered; then nothing may be released.
ChargedGroup charge_group(FunctionCallInfo fcinfo, Family family);

// Draws a release for the group: calls draw(const MechanismContext&) as with_scratch() does.
template <class Draw>
void with_mechanism_context(const ChargedGroup& group, Draw draw) {
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    draw(MechanismContext(*group.random, cancel, &memory));
  });
}

}  // namespace dpquantile
