#pragma once

#include <span>

#include "core/privacy/random.hpp"
#include "pg/state/expanded_records.hpp"

// The part of a final function up to the charge.
namespace dpquantile {

// A group that has been charged and may be answered.
struct ChargedGroup {
  const AggregateParameters* parameters;
  StateRef state;        // none without records
  RandomStream* random;  // for its noise
  void** kept;           // what the family keeps for the query, in its memory; at first null

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

}  // namespace dpquantile
